"""The Play page: one board, the plans of a model, and the optimal plan."""
