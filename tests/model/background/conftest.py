"""The fixtures of tests/model/git, for tests of polling."""

from tests.model.git.conftest import (
    base_dir,
    fake_git,
    make_repository,
    own_home,
    repository,
    with_remote,
)

__all__ = ["base_dir", "fake_git", "make_repository", "own_home", "repository", "with_remote"]
