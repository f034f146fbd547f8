"""Floor 1: the outside world, each part behind a small protocol."""
