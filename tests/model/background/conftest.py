"""The real git of the tests beside, for what polls it."""

from tests.model.git.conftest import (
    base_dir,
    fake_git,
    make_repository,
    own_home,
    repository,
    with_remote,
)

__all__ = ["base_dir", "fake_git", "make_repository", "own_home", "repository", "with_remote"]
