"""Training of readers: what each kind learns from, its loss, and the loop."""
