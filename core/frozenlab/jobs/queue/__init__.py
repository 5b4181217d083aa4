"""The queue of a machine: which job begins when, which makes room, and the process that starts them."""
