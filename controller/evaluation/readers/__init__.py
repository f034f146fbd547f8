"""What the small readers are trained on."""
