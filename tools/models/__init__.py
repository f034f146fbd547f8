"""Models on this machine: where they are, and how they come here."""
