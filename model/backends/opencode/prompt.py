"""A person's message as OpenCode takes it."""

import base64
import mimetypes
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from model.backends.base import Launch, Prompt, Settings
from model.backends.opencode import policy
from model.base.errors import SpinneyError

Json = dict[str, Any]


def parts(prompt: Prompt, worktree: Path) -> list[Json]:
    """The message with its files and pictures.

    Reads files: call it in a thread. The program puts the text of a file into the message. Raises
    `SpinneyError` for a picture that cannot be read.
    """
    mentions = [f"@{_shown(file, worktree)}" for file in prompt.files]
    text = "\n".join([prompt.text, *mentions])
    return [{"type": "text", "text": text}, *_files(prompt), *_images(prompt)]


def body(parts: list[Json], launch: Launch, settings: Settings) -> Json:
    """The call that starts a turn with these parts."""
    told: Json = {
        "parts": parts,
        "agent": policy.agent_of(settings.mode, text_only=launch.text_only),
    }
    if system := policy.system_prompt(launch, settings.mode):
        told["system"] = system
    provider, _, model = settings.model.partition("/")
    if model:
        told["model"] = {"providerID": provider, "modelID": model}
    return told


def _files(prompt: Prompt) -> Iterator[Json]:
    for file in prompt.files:
        if file.exists():
            mime = "application/x-directory" if file.is_dir() else "text/plain"
            yield {"type": "file", "mime": mime, "filename": file.name, "url": file.as_uri()}


def _images(prompt: Prompt) -> Iterator[Json]:
    for image in prompt.images:
        try:
            content = base64.b64encode(image.read_bytes()).decode()
        except OSError as error:
            reason = error.strerror or str(error)
            raise SpinneyError(f"The image {image} could not be read: {reason}.") from error
        mime = mimetypes.guess_type(image.name)[0] or "image/png"
        url = f"data:{mime};base64,{content}"
        yield {"type": "file", "mime": mime, "filename": image.name, "url": url}


def _shown(file: Path, worktree: Path) -> Path:
    with suppress(ValueError):
        return file.relative_to(worktree)
    return file
