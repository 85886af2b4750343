"""A place for the repositories of property tests."""

from pathlib import Path

import pytest

from tests.model.git.snapshots.situations import Stage


@pytest.fixture(scope="module")
def stage(templates: Path, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(templates / "alone", tmp_path_factory.mktemp("stage").resolve() / "place")
