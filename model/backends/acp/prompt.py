"""Converts user messages to the blocks of an ACP prompt, and parses the agent's commands."""

import mimetypes
from collections.abc import Iterable, Iterator
from pathlib import Path

from model.backends.base import Prompt
from model.backends.images import encode_image
from model.backends.json_values import Json, as_object, as_objects, as_text
from model.domain.agent_commands import AgentCommand


def build_blocks(prompt: Prompt, before: Iterable[str], *, accepts_images: bool) -> list[Json]:
    """Build the blocks: the texts `before`, the message, its files and its images.

    Reads images: call it in a thread. Raises `SpinneyError` if one cannot be read.
    """
    texts = [{"type": "text", "text": text} for text in (*before, prompt.text) if text]
    return [
        *texts,
        *map(_resource_link, prompt.files),
        *_image_blocks(prompt.images, accepts_images),
    ]


def parse_commands(update: Json) -> tuple[AgentCommand, ...]:
    """Parse the commands that an agent offers."""
    return tuple(
        AgentCommand(
            name=as_text(each.get("name")),
            description=as_text(each.get("description")),
            argument_hint=as_text(as_object(each.get("input")).get("hint")),
        )
        for each in as_objects(update.get("availableCommands"))
    )


def starts_with_command(commands: Iterable[AgentCommand], text: str) -> bool:
    """Whether a message begins with one of the commands."""
    first = text.split(maxsplit=1)[:1]
    return any(first == [f"/{command.name}"] for command in commands)


def _image_blocks(images: Iterable[Path], accepts_images: bool) -> Iterator[Json]:
    for image in images:
        if not accepts_images:
            text = f"(There is an image that you cannot see: {image})"
            yield {"type": "text", "text": text}
            continue
        kind, content = encode_image(image)
        yield {"type": "image", "mimeType": kind, "data": content}


def _resource_link(file: Path) -> Json:
    kind = mimetypes.guess_type(file.name)[0]
    link: Json = {"type": "resource_link", "name": file.name, "uri": file.absolute().as_uri()}
    return {**link, "mimeType": kind} if kind else link
