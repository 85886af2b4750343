"""Fixtures for tests of what agents use: conversations with puppets."""

from tests.model.chat.conftest import harness, reopen_after_kill  # noqa: F401 - fixtures
