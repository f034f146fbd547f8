"""Loaders for the released weights of the methods that RINSE is compared with."""
