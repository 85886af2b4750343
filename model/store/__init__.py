"""The SQLite store and the event bus: the only place where the state changes."""
