"""The lake for other libraries: PettingZoo, Gymnasium, TRL and verifiers."""
