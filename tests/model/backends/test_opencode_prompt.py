"""The media types of attached files in messages to OpenCode."""

from pathlib import Path

import pytest

from model.backends.base import Prompt
from model.backends.opencode.prompt import build_parts


@pytest.mark.parametrize(
    ("name", "mime"),
    [
        ("song.mp3", "audio/mpeg"),
        ("film.mp4", "video/mp4"),
        ("page.ts", "text/plain"),
        # The program finds out what these are; announced as what they are, the turn fails.
        ("data.json", "text/plain"),
        ("all.zip", "text/plain"),
        ("drawing.svg", "text/plain"),
        ("notes", "text/plain"),
    ],
)
def test_recordings_are_announced_as_what_they_are(tmp_path: Path, name: str, mime: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    _, part = build_parts(Prompt("look", (tmp_path / name,)), tmp_path)
    assert (part["mime"], part["filename"]) == (mime, name)
