"""Preferences: schema, storage, changes, precedence and provider profiles."""
