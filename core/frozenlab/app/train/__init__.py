"""The Train page: starting a session, and watching it."""
