"""The warm start, and one stage of training by each method."""
