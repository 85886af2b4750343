"""A person's message as the blocks of an ACP prompt, and the commands that it may begin with."""

import base64
import mimetypes
from collections.abc import Iterable, Iterator
from pathlib import Path

from model.backends.acp.json_values import Told, as_object, as_objects, as_text
from model.backends.base import Prompt
from model.base.errors import SpinneyError
from model.domain.resources import AgentCommand


def blocks(prompt: Prompt, before: Iterable[str], *, sees_images: bool) -> list[Told]:
    """The blocks: what goes `before`, the text, its files and its images.

    Reads images: call it in a thread. Raises `SpinneyError` for one that cannot be read.
    """
    texts = [{"type": "text", "text": text} for text in (*before, prompt.text) if text]
    return [*texts, *map(_link, prompt.files), *_images(prompt.images, sees_images)]


def commands_of(update: Told) -> tuple[AgentCommand, ...]:
    """The commands that an agent says it takes."""
    return tuple(
        AgentCommand(
            name=as_text(each.get("name")),
            description=as_text(each.get("description")),
            argument_hint=as_text(as_object(each.get("input")).get("hint")),
        )
        for each in as_objects(update.get("availableCommands"))
    )


def is_one_of(commands: Iterable[AgentCommand], text: str) -> bool:
    """Whether a message begins with one of the commands."""
    first = text.split(maxsplit=1)[:1]
    return any(first == [f"/{command.name}"] for command in commands)


def _images(images: Iterable[Path], seen: bool) -> Iterator[Told]:
    for image in images:
        if not seen:
            text = f"(There is an image that you cannot be shown: {image})"
            yield {"type": "text", "text": text}
            continue
        try:
            content = base64.b64encode(image.read_bytes()).decode()
        except OSError as error:
            reason = error.strerror or str(error)
            raise SpinneyError(f"The image {image} could not be read: {reason}.") from error
        yield {"type": "image", "mimeType": _type(image) or "image/png", "data": content}


def _link(file: Path) -> Told:
    kind = _type(file)
    link: Told = {"type": "resource_link", "name": file.name, "uri": file.absolute().as_uri()}
    return {**link, "mimeType": kind} if kind else link


def _type(file: Path) -> str | None:
    return mimetypes.guess_type(file.name)[0]
