"""IGP and its rivals over a question file."""
