"""The OpenCode backend: sessions of a shared `opencode serve`."""
