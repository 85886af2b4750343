"""What a request says of itself: what would be run or touched, whole, in which mode and where."""

from typing import TYPE_CHECKING

from textual.content import Content

from model.base.text import clean_line

if TYPE_CHECKING:
    from model.domain.resources import Request

Part = str | tuple[str, str]


def card(request: "Request") -> Content:
    """A plan stands in the conversation; a permission says what it is about."""
    if request.kind == "plan":
        return Content("The plan above is ready.")
    command, details = _shown_input(request)
    mode = f"{request.execution_mode} mode" if request.execution_mode else ""
    where = f"in {clean_line(request.directory)}" if request.directory else ""
    parts: list[Part] = [(request.tool_name or "A tool", "bold")]
    parts.append((f"  {mode} {where}".rstrip(), "$text-muted"))
    if reason := _reason(request, command):
        parts += ["\n", (reason, "$text-muted")]
    parts += ["\n", (command, "bold $warning")] if command else []
    parts += ["\n", (details, "$warning")] if details else []
    return Content.assemble(*parts)


def _reason(request: "Request", command: str) -> str:
    """What the agent says about it, unless it only repeats the command or the tool's name."""
    words = clean_line(request.description)
    plain = words.replace("`", "")
    is_repeated = plain == request.tool_name or (command and clean_line(command) in plain)
    return "" if is_repeated else words


def _shown_input(request: "Request") -> tuple[str, str]:
    """The command, and everything else: nobody should allow what they cannot see."""
    given = request.tool_input
    if isinstance(command := given.get("command"), str):
        rest = {key: value for key, value in given.items() if key not in ("command", "description")}
        return command, _json(rest)
    return "", _json(given)


def _json(value: dict[str, object]) -> str:
    import json  # not before the first frame

    return json.dumps(value, ensure_ascii=False, indent=1, default=str) if value else ""
