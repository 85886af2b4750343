"""Writes the reference pages from the code: `make docs`. A test fails while they are stale."""

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Final, cast

from docs import cli_pages, proofs
from docs.effects import EFFECTS
from model.base.errors import HTTP_STATUS
from model.cli.arguments import TABLE
from model.cli.reference import command_table, describe_type, schema
from model.domain.tool_uses import VERBS
from model.preferences.fields import (
    PreferenceField,
    entry_label,
    preference_fields,
    shown_fields,
)
from model.state import GIT_STATUS_FIELDS
from server.http_api import OPERATIONS, HttpApi
from server.lite.form_actions import FORM_ACTIONS, WORKTREE_ACTIONS, FormAction, WorktreeAction
from server.lite.routes import SESSION, WORKTREE, Lite
from server.static import StaticFiles
from server.websocket import WebSockets
from tui.keys.action import Action
from tui.keys.keymap import ACTIONS, BY_ID
from tui.keys.names import format_keys
from tui.screens.help import AREAS, Area

DOCS: Final = Path(__file__).parent
PAGE_ACTIONS: Final = DOCS.parent / "server" / "web" / "js" / "actions.js"
PAGE_MODULE: Final = DOCS.parent / "server" / "web" / "js" / "generated.js"
_MADE: Final = "<!-- Made from the code by `make docs`. -->"
_END: Final = "<!-- End of what is made. -->"


def pages() -> dict[str, str]:
    """Every generated page by its file name."""
    known = schema()
    return {
        "commands.md": _page(chain(_commands(known["commands"]), _shapes(known["$defs"]))),
        "events.md": _page(_events(known["events"])),
        "preferences.md": _page(_preferences()),
        "http.md": _page(_http()),
        "contract.md": _page(proofs.page()),
        "terminal.md": _with_made((DOCS / "terminal.md").read_text(), _all_keys()),
        "cli.md": _with_made((DOCS / "cli.md").read_text(), cli_pages.reference()),
        "spinney.1": cli_pages.manual(),
    }


def call_table() -> str:
    """What `spinney call` knows of the commands."""
    return json.dumps(command_table(), ensure_ascii=False, indent=1) + "\n"


def page_module() -> str:
    """What the page repeats of the model and of the terminal's key map, as a JavaScript module."""
    ids = re.findall(r'\{ id: "(\w+)"', PAGE_ACTIONS.read_text())
    titles = {name: BY_ID[name].title for name in ids if name in BY_ID}
    fields = shown_fields().values()
    labels = {field.key: field.label for field in fields}
    labels |= {entry: entry_label(entry) for field in fields for entry in field.entries}
    return "\n".join(
        [
            "// @ts-check",
            "// Generated from the code by `make docs`.",
            "",
            "/** Titles of the actions that the terminal has too, by id. */",
            f"export const TITLES = {_object(titles)};",
            "",
            "/** Labels of preferences, and of the entries of those that are objects, by key. */",
            f"export const LABELS = {_object(labels)};",
            "",
            "/** Fields of `git:status-update` that have another name in worktrees. */",
            f"export const GIT_STATUS_FIELDS = {_object(GIT_STATUS_FIELDS)};",
            "",
            "/** The verbs for tools, by the agents' names for them in lower case. */",
            f"export const VERBS = {_object(VERBS)};",
            "",
        ]
    )


def _object(entries: Mapping[str, str]) -> str:
    lines = (f"  {name}: {json.dumps(text, ensure_ascii=False)}," for name, text in entries.items())
    return "\n".join(["{", *lines, "}"])


def _page(lines: Iterator[str]) -> str:
    return "\n".join([_MADE, *lines]) + "\n"


def _with_made(page: str, made: Iterable[str]) -> str:
    """The page with its generated part as the code has it; the words around it stay."""
    before, _, rest = page.partition(f"{_MADE}\n")
    after = rest.partition(f"{_END}\n")[2]
    lines = "\n".join(made)
    return f"{before}{_MADE}\n{lines}\n\n{_END}\n{after}"


def _all_keys() -> Iterator[str]:
    """The tables of keys as the key map has them."""
    return chain.from_iterable(_keys(area) for area in AREAS)


def _keys(area: Area) -> Iterator[str]:
    yield from ["", f"### {area.title}", "", "| key | does | name |", "| --- | --- | --- |"]
    for keys, words in area.own:
        yield f"| {_cell(keys)} | {_cell(words)} | |"
    for action in ACTIONS:
        if action.scope == area.where:
            yield f"| {_cell(format_keys(action.keys))} | {_cell(_doing(action))} | `{action.id}` |"


def _doing(action: Action) -> str:
    return f"{action.title}. {action.help}" if action.help else action.title


def _commands(commands: dict[str, Any]) -> Iterator[str]:
    yield "# Commands"
    yield ""
    yield (
        "A client sends `{id, command, args}` over the WebSocket and gets `{type: "
        '"response", id, data}` or `{type: "error", id, error, error_type}`. Arguments are taken '
        "in snake_case too; `null` counts as left out where an argument is optional. An argument "
        "that a command does not have is ignored, and the reply names it in `warnings`, a list of "
        "sentences. "
        "`spinney call NAME` calls one from a shell, `spinney schema` prints all of this as JSON "
        "Schema."
    )
    ordered = sorted(commands.items(), key=lambda item: item[1]["area"])
    for area, found in groupby(ordered, key=lambda item: item[1]["area"]):
        yield f"\n## {area.rstrip('.')}"
        for name, command in found:
            yield from ["", f"### {name}", "", _one_line(command["description"])]
            if not command["remote"]:
                yield "\nOnly inside Spinney's own process: other clients cannot call it."
            yield from _arguments(command["args"])
            yield f"\nGives {_code(describe_type(command['result']))}."


def _arguments(args: dict[str, Any]) -> Iterator[str]:
    if not args["properties"]:
        return
    yield from ["", "| argument | type | |", "| --- | --- | --- |"]
    for name, shape in args["properties"].items():
        if name in args["required"]:
            yield f"| `{name}` | {_code(describe_type(shape))} | required |"
        else:
            default = (
                "" if shape.get("default") is None else f", else `{json.dumps(shape['default'])}`"
            )
            kind = describe_type(shape).removesuffix(" | null")
            yield f"| `{name}` | {_code(kind)} | optional{default} |"


def _shapes(shapes: dict[str, Any]) -> Iterator[str]:
    """The fields of everything that a command takes or gives."""
    yield "\n## What they speak of"
    for name, shape in shapes.items():
        if name == "Preferences" or not shape.get("properties"):
            continue
        yield from ["", f"### {name}", "", _one_line(shape.get("description", "")), ""]
        yield from ["| field | type |", "| --- | --- |"]
        for field, kind in shape["properties"].items():
            yield f"| `{field}` | {_code(describe_type(kind))} |"
    yield "\n`Preferences` has a page of [its own](preferences.md)."


def _events(events: dict[str, Any]) -> Iterator[str]:
    yield "# Events"
    yield ""
    yield (
        'An event comes as `{event, data}` or as `{type: "event", event, payload}`, as its '
        "envelope says. A client that adds `?since=N` to the upgrade also gets `seq` in every "
        "frame, and the fields and events that are marked *numbered*."
    )
    for name, event in events.items():
        note = " Numbered frames only." if event["numbered"] else ""
        yield from ["", f"## {name}", "", f"{_one_line(event['description'])}{note}", ""]
        yield from [f"| `{event['envelope']}` | type | |", "| --- | --- | --- |"]
        for field, shape in event["fields"].items():
            maybe = "left out when null" if field in event["left_out_when_null"] else ""
            yield f"| `{field}` | {_code(describe_type(shape))} | {maybe} |"
        for field, shape in event["numbered_fields"].items():
            yield f"| `{field}` | {_code(describe_type(shape))} | numbered |"


def _preferences() -> Iterator[str]:
    yield "# Preferences"
    yield ""
    yield (
        "They live in `preferences.json` in the configuration directory, and are changed there, in "
        "the settings, or with `update_preferences`: all of the changes or none. What a session "
        "or a project says for itself goes before them. Secrets are hidden from other clients."
    )
    yield ""
    yield (
        "The page's fonts are those of the device that it is seen on, or files in `fonts/` beside "
        "`preferences.json`, read when the server starts: `inter.woff2` and, where the faces are "
        "apart, `inter-bold.woff2`, `inter-italic.woff2` and `inter-bold-italic.woff2`."
    )
    for group, found in groupby(shown_fields().values(), key=lambda field: field.group):
        yield from _table(group, "", found)
    about = (
        "Accepted, stored and returned, so that values of other clients are not lost. They have no "
        "effect, and no screen shows them. The same applies to entries of magic prompts that are "
        "not named above."
    )
    hidden = [field for field in preference_fields().values() if not field.shown]
    yield from _table("Without effect", about, hidden)


def _table(title: str, about: str, fields: Iterable[PreferenceField]) -> Iterator[str]:
    yield from ["", f"## {title}", "", *([about, ""] if about else [])]
    yield from ["| key | must be | default | | read by |", "| --- | --- | --- | --- | --- |"]
    for field in fields:
        must = field.requirement.removeprefix("be ")
        secret = " Secret." if field.secret else ""
        more = f" {field.more}" if field.more else ""
        entries = f" Entries: {', '.join(field.entries)}." if field.entries else ""
        text = f"{field.help}.{more}{entries}{secret}"
        readers = EFFECTS[field.key].readers if field.shown else ()
        named = ", ".join(f"`{reader}`" for reader in readers)
        row = (f"`{field.key}`", must, _default(field), text, named)
        yield f"| {' | '.join(_cell(text) for text in row)} |"


def _default(field: PreferenceField) -> str:
    if isinstance(field.default, dict) and field.default:
        return "built in"
    if field.default == "":
        return "empty"
    return f"`{field.default if isinstance(field.default, str) else json.dumps(field.default)}`"


def _http() -> Iterator[str]:
    yield "# HTTP"
    yield ""
    yield (
        "Bodies are JSON. The token is sent as `Authorization: Bearer TOKEN`; only `/ws` and "
        "`/api/auth` take it as `?token=`, `/ws` also among the protocols that a client offers "
        "(`spinney, token.<its base64url>`). Each path of sessions and worktrees is a "
        "[command](commands.md). Names are taken in camelCase too; one that a path does not take "
        "is an error that says which it does."
    )
    yield from ["", "| method | path | takes | |", "| --- | --- | --- | --- |"]
    for method, path, takes, text in _paths():
        fields = ", ".join(f"`{field}`" for field in takes)
        yield f"| {method} | `{path}` | {fields} | {_cell(_one_line(text))} |"
    yield ""
    yield "An error is `{error, error_type}`, and `session_id` where a session is missing."
    yield from ["", "| `error_type` | status |", "| --- | --- |"]
    odd = {
        "invalid_request": "; 405 for a method that the path does not have, 415 for a coded body"
    }
    yield from (f"| `{kind}` | {code}{odd.get(kind, '')} |" for kind, code in HTTP_STATUS.items())
    yield from _lite()


def _lite() -> Iterator[str]:
    yield ""
    yield "## The page without JavaScript"
    yield ""
    yield (
        "`/lite` responds with HTML, for errors too, and accepts forms, which redirect with a 303. "
        "Clients authenticate with the cookie of a sign-in or with the token in the header, as "
        '`curl -H "Authorization: Bearer TOKEN"` does; without that header a form must show the '
        "`form_value` of its page."
    )
    yield from ["", "| method | path | takes | |", "| --- | --- | --- | --- |"]
    nothing = cast("Any", None)
    orders: dict[str, FormAction | WorktreeAction] = {
        **{f"{SESSION}/{order.name}": order for order in FORM_ACTIONS},
        **{f"{WORKTREE}/{order.name}": order for order in WORKTREE_ACTIONS},
    }
    for route in Lite(nothing, nothing, nothing, "", nothing).routes():
        order = orders.get(route.path)
        fields = ", ".join(f"`{name}`" for name in order.fields) if order else ""
        command = f"[{order.command}](commands.md#{order.command})." if order else ""
        text = command or _one_line(inspect.getdoc(route.handler) or "")
        yield f"| {route.method} | `{route.path}` | {fields} | {_cell(text)} |"


def _paths() -> Iterator[tuple[str, str, tuple[str, ...], str]]:
    nothing = cast("Any", None)  # The table of paths is read, and no request served.
    operations = {(operation.method, operation.path) for operation in OPERATIONS}
    for route in HttpApi(nothing, nothing, "", nothing, nothing, nothing).routes():
        if (route.method, route.path) not in operations:
            yield route.method, route.path, (), inspect.getdoc(route.handler) or ""
    yield (
        "GET",
        "/ws",
        ("token", "since", "session", "only"),
        inspect.getdoc(WebSockets.serve) or "",
    )
    yield "GET", "/*", (), inspect.getdoc(StaticFiles.serve) or ""
    for operation in OPERATIONS:
        name = operation.command.name
        text = f"[{name}](commands.md#{name}). {operation.command.description}"
        yield operation.method, operation.path, operation.fields, text


def _code(text: str) -> str:
    return "nothing" if text == "null" else f"`{text}`".replace("|", "\\|")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text)
    TABLE.write_text(call_table())
    PAGE_MODULE.write_text(page_module())
