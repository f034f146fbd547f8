"""Question files in their own formats."""
