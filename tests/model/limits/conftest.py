"""Fixtures for tests of pauses: conversations with puppets."""

from tests.model.chat.conftest import harness  # noqa: F401 - a fixture
