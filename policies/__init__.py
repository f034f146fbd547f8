"""Floor 2: decisions. Given passages and a generator, return a verdict with its reasons."""
