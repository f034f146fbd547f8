"""Encoders that read a question beside passages: answer spans, relevance, sufficiency; and their training."""
