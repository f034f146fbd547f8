"""Published pipelines over the same tools, for TrustMargin to plug into."""
