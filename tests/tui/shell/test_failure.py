"""A crash of the screen is logged with the place where it happened."""

from pathlib import Path

import pytest
from textual.worker import WorkerFailed

from tui.shell import failure


def test_what_failed_in_a_worker_is_logged_with_its_place(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise LookupError("not there")

    with pytest.raises(LookupError) as raised:
        fail()
    said = failure.log(WorkerFailed(raised.value), tmp_path)
    assert said is not None and "screen failed (LookupError)" in said.plain
    assert 'raise LookupError("not there")' in caplog.text
