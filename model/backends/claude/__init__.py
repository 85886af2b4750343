"""The Claude Code backend: one `claude` process for each session."""
