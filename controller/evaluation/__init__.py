"""Contrasts, metrics and reports."""
