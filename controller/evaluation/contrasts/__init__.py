"""Groups that differ only in support: built, scored, audited and compared."""
