"""Indexes and retrievers."""
