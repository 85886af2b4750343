"""The demo backend and its agent program, which needs no account."""
