"""The table of keys and actions, and the names of keys."""
