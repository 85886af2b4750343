"""The description of a request: everything that would be run or changed, the mode, and where."""

from typing import TYPE_CHECKING

from textual.content import Content

from model.base.text import clean_line

if TYPE_CHECKING:
    from model.domain.requests import Request

Part = str | tuple[str, str]


def request_content(request: "Request") -> Content:
    """Render a request: a permission in full; a plan is shown in the conversation."""
    if request.kind == "plan":
        return Content.assemble(("Plan", "bold $warning"), ("  is ready above", "$text-muted"))
    command, details = _split_input(request)
    mode = f"{request.execution_mode} mode" if request.execution_mode else ""
    where = f"in {clean_line(request.directory)}" if request.directory else ""
    parts: list[Part] = [("Permission", "bold $warning"), "  "]
    parts.append((request.tool_name or "A tool", "bold"))
    parts.append((f"  {mode} {where}".rstrip(), "$text-muted"))
    if reason := _reason(request, command):
        parts += ["\n", (reason, "$text-muted")]
    parts += ["\n", (command, "bold $warning")] if command else []
    parts += ["\n", (details, "$warning")] if details else []
    return Content.assemble(*parts)


def _reason(request: "Request", command: str) -> str:
    """The agent's description, unless it only repeats the command or the tool's name."""
    description = clean_line(request.description)
    text = description.replace("`", "")
    is_repeated = text == request.tool_name or (command and clean_line(command) in text)
    return "" if is_repeated else description


def _split_input(request: "Request") -> tuple[str, str]:
    """The command and all other input, because users must see everything that they allow."""
    tool_input = request.tool_input
    if isinstance(command := tool_input.get("command"), str):
        others = {
            key: value for key, value in tool_input.items() if key not in ("command", "description")
        }
        return command, _json(others)
    return "", _json(tool_input)


def _json(value: dict[str, object]) -> str:
    import json  # not before the first frame

    return json.dumps(value, ensure_ascii=False, indent=1, default=str) if value else ""
