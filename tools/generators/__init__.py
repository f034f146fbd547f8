"""Language models that answer and show their probabilities."""
