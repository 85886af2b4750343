"""The Codex backend: threads of a shared `codex app-server`."""
