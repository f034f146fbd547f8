"""TrustMargin over a question file: accuracy, grids, corruption, cost."""
