"""Converts user messages to the bodies of OpenCode's calls."""

import mimetypes
from collections.abc import Iterator
from pathlib import Path

from model.backends.base import Launch, Prompt, Settings
from model.backends.images import encode_image
from model.backends.json_values import Json
from model.backends.opencode import policy
from model.backends.worktree_paths import display_path


def build_parts(prompt: Prompt, worktree: Path) -> list[Json]:
    """Build the parts of a message with its files and images.

    Reads files: call it in a thread. The program inserts the text of files into the message. Raises
    `SpinneyError` for an image that cannot be read.
    """
    mentions = [f"@{display_path(str(file), worktree)}" for file in prompt.files]
    text = "\n".join([prompt.text, *mentions])
    return [{"type": "text", "text": text}, *_files(prompt), *_images(prompt)]


def build_body(parts: list[Json], launch: Launch, settings: Settings) -> Json:
    """Build the body of the call that starts a turn with these parts."""
    body: Json = {
        "parts": parts,
        "agent": policy.agent_for(settings.mode, text_only=launch.text_only),
    }
    if system := policy.system_prompt(launch, settings.mode):
        body["system"] = system
    provider, _, model = settings.model.partition("/")
    if model:
        body["model"] = {"providerID": provider, "modelID": model}
    return body


def _files(prompt: Prompt) -> Iterator[Json]:
    for file in prompt.files:
        if file.exists():
            yield {
                "type": "file",
                "mime": "application/x-directory" if file.is_dir() else _media_type(file),
                "filename": file.name,
                "url": file.as_uri(),
            }


def _media_type(file: Path) -> str:
    """The type under which the program passes a file on as what it is.

    What is announced as text it reads itself, and recognizes images and PDFs. Sound and film are
    "binary" to it then, and of any other type, even JSON, the turn fails (1.18.33).
    """
    kind = mimetypes.guess_type(file.name)[0] or ""
    is_recording = kind.startswith(("audio/", "video/")) and file.suffix != ".ts"  # TypeScript
    return kind if is_recording else "text/plain"


def _images(prompt: Prompt) -> Iterator[Json]:
    for image in prompt.images:
        mime, content = encode_image(image)
        url = f"data:{mime};base64,{content}"
        yield {"type": "file", "mime": mime, "filename": image.name, "url": url}
