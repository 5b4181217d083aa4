"""Planted students: checkpoints that are weak at known cells of a config, because they did not practise them."""
