"""The controller over HTTP."""
