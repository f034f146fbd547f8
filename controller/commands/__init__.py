"""The commands of `sufficit`, one file a group."""
