"""Which agent programs exist: the catalog and the user's own `agents.toml`."""
