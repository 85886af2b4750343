"""The table of keys and actions, and key names."""
