"""A shared node of passages: look up, decide, fetch on a miss, keep."""
