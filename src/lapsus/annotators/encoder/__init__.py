"""The default detector and its readers, one a language."""
