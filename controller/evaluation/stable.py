"""Draws and names that depend on a seed and a name alone, so that they are the same in every run."""

import hashlib
import random


def stable_random(seed: int, name: str) -> random.Random:
    """A generator that depends on the seed and the name alone, not on what was built before."""
    return random.Random(f"{seed}:{name}")


def stable_id(*parts: str) -> str:
    """Sixteen hexadecimal digits that depend on the parts and their order alone."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
