"""Preferences: schema, file, changes, precedence and provider profiles."""
