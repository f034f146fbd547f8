"""Corpora: files of many forms, read as passages."""
