"""Adapters for agent programs: a common interface and one package for each program."""
