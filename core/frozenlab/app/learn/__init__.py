"""The page Learn: a course in multi-agent path finding on live boards."""
