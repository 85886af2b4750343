"""The events, one module for each subject."""
