"""Floor 3: the loop, and the doors people come in by."""
