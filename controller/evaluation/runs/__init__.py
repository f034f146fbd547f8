"""Agents run over question files: durable rows, metrics, comparisons."""
