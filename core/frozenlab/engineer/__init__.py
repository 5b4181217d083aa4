"""Evidence -> context -> proposal -> guard; one module an engineer."""
