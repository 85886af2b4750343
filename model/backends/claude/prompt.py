"""Builds the JSON line for a user's message. Reads images: call it in a thread."""

import re
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from model.backends.base import Prompt
from model.backends.images import encode_image
from model.backends.json_values import Json
from model.backends.worktree_paths import display_path

_UNQUOTED: Final = re.compile(r"[\w./-]*\w")
"""Names that the program finds without quotes; it finds none that contain a `#` (2.1.329)."""


def build_user_line(prompt: Prompt, worktree: Path, message_id: str = "") -> Json:
    """The message with its files mentioned and its images embedded, under this id or a new one.

    Raises `SpinneyError` for an unreadable image.
    """
    mentions = [_mention(file, worktree) for file in prompt.files]
    text = {"type": "text", "text": "\n".join([prompt.text, *mentions])}
    return {
        "type": "user",
        "message": {"role": "user", "content": [text, *_image_blocks(prompt.images)]},
        "parent_tool_use_id": None,
        "uuid": message_id or str(uuid.uuid4()),
    }


def is_command(text: str) -> bool:
    """Whether the program treats this as one of its commands, such as `/clear`."""
    return text.lstrip().startswith("/")


def _mention(file: Path, worktree: Path) -> str:
    name = display_path(str(file), worktree)
    return f"@{name}" if '"' in name or _UNQUOTED.fullmatch(name) else f'@"{name}"'


def _image_blocks(images: Iterable[Path]) -> list[Json]:
    blocks = []
    for image in images:
        kind, content = encode_image(image)
        source = {"type": "base64", "media_type": kind, "data": content}
        blocks.append({"type": "image", "source": source})
    return blocks
