"""Several task families at once: one session trains on tasks of each, by shares."""
