"""A repository's scripts: configuration, trust and execution."""
