"""How a context is put to a model, and how its proposal is read: in the lab dialect, or in plain language and JSON."""
