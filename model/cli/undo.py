"""`spinney undo`: show what an undo of a turn would do, ask, and undo or redo it."""

from argparse import Namespace
from typing import Any, Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.choices import confirm
from model.cli.lookup import (
    SHORT_ID,
    Json,
    find_session,
    find_worktree,
    list_projects,
    list_sessions,
    list_worktrees,
)
from model.cli.quick_call import connect_here, request_here

_ACTIONS: Final = {
    "restore": "restored",
    "merge": "merged; later changes stay",
    "conflict": "changed since: choose with --keep or --before",
    "keep": "kept as it is",
    "submodule": "a submodule: not undone",
}
_CHOICES: Final = {"keep": "kept as it is", "before": "taken as it was before"}
_SCOPES: Final = {
    "both": "files and conversation",
    "files": "files only",
    "conversation": "conversation only",
}


def undo(options: Namespace) -> int:
    """Run what the command line asks for; returns the exit code, 1 if it was not confirmed."""
    session, turns = _find_turns(options)
    turn = _find_turn(turns, options)
    choices = dict.fromkeys(options.keep, "keep") | dict.fromkeys(options.before, "before")
    if options.redo:
        result = request_here("redo_turn", turnId=turn["turn_id"], choices=choices)
        _report(result, f"Brought back: {count(len(result['turns']), 'turn')}", options)
        return 0
    what = options.what or ("both" if turn["message_id"] else "files")
    later = [t for t in turns if t["number"] > turn["number"] and t["undone"] is None]
    preview = _preview(turn, what, later)
    unknown = choices.keys() - {file["path"] for file in preview["files"]}
    if unknown:
        raise SpinneyError(f"The undo does not change '{clean_line(min(unknown))}'.", "not_found")
    if options.json and not options.yes:
        write_json(preview)
        return 0
    if not options.json:
        write_output("".join(f"{line}\n" for line in _describe(turn, what, preview, choices)))
    if not options.yes and not confirm(options, "Undo?", "undo"):
        return 1
    result = request_here("undo_turn", turnId=turn["turn_id"], what=what, choices=choices)
    _report(result, f"Undone: {count(len(result['turns']), 'turn')}", options)
    if not options.json:
        write_output(f"Take it back with: spinney undo {session['id'][:SHORT_ID]} --redo\n")
    return 0


def _find_turns(options: Namespace) -> tuple[Json, list[Json]]:
    """Return the session that is named, with its turns; by default, of those in the worktree of
    the current directory, the one with the newest turn that could be meant.
    """
    wanted = options.session
    with connect_here() as connection:
        rows = list_sessions(connection, archived="include")
        if wanted not in (None, "."):
            sessions = [find_session(rows, wanted)]
        else:
            worktree = find_worktree(list_worktrees(connection, list_projects(connection)), None)
            inside = [row for row in rows if row["worktree_id"] == worktree["id"]]
            sessions = [row for row in inside if not row["archived_at"]]
        calls = [("list_turns", {"sessionId": row["id"]}) for row in sessions]
        found = list(zip(sessions, connection.call_all(calls), strict=True))
    if wanted not in (None, "."):
        return found[0]
    if not any(turns for _, turns in found):
        raise SpinneyError(
            "There is no turn in the worktree of this directory. Name a session, or go to its "
            "worktree.",
            "not_found",
        )
    return max(found, key=lambda each: _newest(each[1], options))


def _newest(turns: list[Json], options: Namespace) -> tuple[bool, float]:
    """The time of the newest turn that could be meant; if there is none, of the newest turn."""
    if options.redo:
        times = [turn["undone_at"] for turn in turns if turn["undone"] is not None]
    else:
        named = options.turn is not None
        times = [turn["started_at"] for turn in turns if named or turn["undone"] is None]
    return bool(times), max(times or [turn["started_at"] for turn in turns], default=0.0)


def _find_turn(turns: list[dict[str, Any]], options: Namespace) -> dict[str, Any]:
    """Return the turn with the given number; by default the newest that can be undone, or of
    the newest undo.
    """
    if options.turn is not None:
        found = [turn for turn in turns if turn["number"] == options.turn]
        missing = f"The session has no turn {options.turn}; it has {count(len(turns), 'turn')}."
    elif options.redo:
        undone = [turn for turn in turns if turn["undone"] is not None]
        found = sorted(undone, key=lambda turn: turn["undone_at"], reverse=True)
        missing = "No turn of this session is undone."
    else:
        found = [turn for turn in reversed(turns) if turn["undone"] is None]
        missing = "There is no turn to undo in this session."
    if not found:
        raise SpinneyError(missing, "not_found")
    return found[0]


def _preview(turn: dict[str, Any], what: str, later: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what would be undone; with the conversation, the later turns go too."""
    if what == "conversation":
        ids = [each["turn_id"] for each in [*reversed(later), turn]]
        return {"turn_ids": ids, "files": []}
    through = {"through": later[-1]["turn_id"]} if later and what == "both" else {}
    return dict(request_here("preview_undo", turnId=turn["turn_id"], **through))


def _describe(
    turn: dict[str, Any], what: str, preview: dict[str, Any], choices: dict[str, str]
) -> list[str]:
    prompt = clean_line(turn["prompt"]) or "The agent began by itself"
    later = len(preview["turn_ids"]) - 1
    more = f", with {count(later, 'later turn')}" if later else ""
    lines = [f"Turn {turn['number']}: {prompt}", f"Undo {_SCOPES[what]}{more}."]
    for file in preview["files"]:
        choice = choices.get(file["path"])
        fate = _CHOICES[choice] if choice else _ACTIONS[file["action"]]
        if file["others"] and not choice:
            fate = "kept: others changed it, too"
        lines.append(f"  {clean_line(file['path'])}: {fate}")
    return lines


def _report(result: dict[str, Any], text: str, options: Namespace) -> None:
    if options.json:
        write_json(result)
        return
    write_output(f"{text}\n")
