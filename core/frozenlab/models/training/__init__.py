"""One stage of training, by each method."""
