"""What of each resource a guest sees: named fields only, with secrets masked in all texts.

A field that is in no list here is not shown. A test fails for one that is in none of them.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from model.access.masked_text import find_boundary
from model.base.masking import MASK, MIN_SECRET_LENGTH, find_named_secrets
from model.domain.messages import Block, ImageBlock, Message
from model.domain.projects import Project
from model.domain.resource import Resource
from model.domain.sessions import Session
from model.domain.turns import Turn
from model.domain.worktrees import Worktree
from model.secrets.scanner import mask_for_guests

R = TypeVar("R", bound=Resource)

PROJECT_FIELDS: Final = frozenset({"id", "name", "default_branch", "added_at", "is_folder"})
WORKTREE_FIELDS: Final = frozenset({
    "id", "project_id", "name", "branch", "created_at", "session_type", "order",
    "pr_number", "pr_url", "issue_number", "label", "archived_at", "base_branch", "status",
    "detached_at", "setup_hold", "cached_pr_status", "cached_check_status",
    "cached_behind_count", "cached_ahead_count", "cached_uncommitted_added",
    "cached_uncommitted_removed", "cached_branch_diff_added", "cached_branch_diff_removed",
    "cached_unpushed_count", "cached_conflict_count", "cached_status_at",
})  # fmt: skip
SESSION_FIELDS: Final = frozenset({
    "id", "worktree_id", "name", "created_at", "execution_mode", "turn_mode", "model",
    "answering_model", "thinking_level", "backend", "archived_at", "order", "updated_at", "status",
    "waiting_for", "request", "set_aside_plan", "usage", "context_tokens", "context_window",
    "message_count", "last_run", "recap", "pause",
})  # fmt: skip
MESSAGE_FIELDS: Final = frozenset({
    "id", "role", "content", "timestamp", "usage", "session_id", "status", "stop_reason", "error",
    "model", "backend", "execution_mode", "files", "rewound", "send_at",
    "steered",
})  # fmt: skip
TURN_FIELDS: Final = frozenset({
    "id", "session_id", "worktree_id", "number", "message_id", "prompt", "started_at", "ended_at",
    "backend", "files", "shared",
})  # fmt: skip

HIDDEN_FIELDS: Final[Mapping[type[Resource], frozenset[str]]] = {
    Project: frozenset({
        "path", "order", "parent_id", "avatar_path", "enabled_mcp_servers", "known_mcp_servers",
        "custom_system_prompt", "default_provider", "default_backend", "worktrees_dir",
        "tracker_api_key", "tracker_team_id", "landing_method", "budget_usd", "trusted_scripts",
        "allowed_secrets", "branch_template", "outside_worktrees", "ignored_worktrees",
    }),
    Worktree: frozenset({
        "last_opened_at", "port", "started_from", "renaming_to", "restored_from", "dismissed_pr",
        "path", "comments_noted_at", "cached_pr_head",
        "running_scripts", "adopted", "keeps_branch", "named_by_user", "archive_when_idle",
        "conflicts_with", "conflicts_with_base", "branch_pattern", "copied_files",
    }),
    Session: frozenset({
        "unread", "named_by_user", "resume_token", "turn_mark", "fork_at", "memories", "prompt",
        "has_context", "handover", "elsewhere_since", "pull_request_loop", "cost", "budget_usd",
    }),
    Message: frozenset({"context"}),
    Turn: frozenset({
        "before_tree", "after_tree", "start_token", "start_mark", "resume_token", "mark",
        "problem", "undone", "undo_began",
    }),
}  # fmt: skip
"""Fields that belong to the owner: paths, settings, and what agents' programs know it by."""

SHOWN_FIELDS: Final[Mapping[type[Resource], frozenset[str]]] = {
    Project: PROJECT_FIELDS,
    Worktree: WORKTREE_FIELDS,
    Session: SESSION_FIELDS,
    Message: MESSAGE_FIELDS,
    Turn: TURN_FIELDS,
}

_NAMES: Final = frozenset({"id", "type", "role", "status", "kind", "model", "backend"})
"""Fields whose texts are ids or names of ours; so are those that end with `_id`."""
_WITHHELD: Final = frozenset({"account"})
"""Names of the owner's accounts, anywhere in a resource."""
_FOREIGN: Final = frozenset({"input", "tool_input", "answer"})
"""Fields whose values have names of others."""
PICTURES: Final = "/pictures/"
"""Begins the path of an uploaded file for guests, instead of the folder on this machine."""
_MAX_DEPTH: Final = 40


def show(resource: R) -> R:
    """The resource as a guest sees it."""
    kind = type(resource)
    fields = resource.model_dump(mode="json", include=set(SHOWN_FIELDS[kind]))
    return kind.model_validate(mask_json(fields))


def show_message(message: Message) -> Message:
    """The message as a guest sees it; of one that is being written, what is complete."""
    shown = show(message)
    if message.status == "processing" and message.role == "assistant" and message.content:
        held = hold_back(message.content[-1])
        shown = shown.model_copy(update={"content": [*shown.content[:-1], show_block(held)]})
    content = [_without_folder(block) for block in shown.content]
    files = [show_upload(path) for path in shown.files]
    return shown.model_copy(update={"content": content, "files": files})


def hold_back(block: Block) -> Block:
    """A text block that is being written, up to where no secret can be incomplete."""
    text = getattr(block, "text", None)
    if block.type not in ("text", "thinking") or not isinstance(text, str):
        return block
    return block.model_copy(update={"text": text[: find_boundary(text)]})


def show_block(block: Block) -> Block:
    """The block as a guest sees it."""
    shown = type(block).model_validate(mask_json(block.model_dump(mode="json")))
    return _without_folder(shown)


def show_output(output: str | None) -> str | None:
    """The end of a running tool's output, without its lines that may be incomplete or the value of
    a name above them.
    """
    if output is None:
        return None
    lines = output.splitlines(keepends=True)
    complete = lines if not lines or lines[-1].endswith("\n") else lines[:-1]
    first = next((at for at, line in enumerate(complete) if line.strip()), 0)
    return mask_for_guests("".join(complete[first:])).partition("\n")[2]


def mask_json(value: Any, *, is_foreign: bool = False, depth: int = 0) -> Any:
    """Mask the secrets in all texts of a JSON value, except in ids and names of ours.

    In a value that is foreign as a whole, such as the input of a tool, no name is trusted.
    """
    if depth > _MAX_DEPTH:
        return MASK
    match value:
        case str():
            return mask_for_guests(value) if len(value) >= MIN_SECRET_LENGTH else value
        case dict():
            named = find_named_secrets(value) if is_foreign else frozenset()
            return {
                mask_for_guests(str(key)): MASK
                if isinstance(item, str) and item in named
                else ""
                if key in _WITHHELD and not is_foreign
                else item
                if isinstance(item, str) and not is_foreign and _is_name(key)
                else mask_json(item, is_foreign=is_foreign or key in _FOREIGN, depth=depth + 1)
                for key, item in value.items()
            }
        case list():
            return [mask_json(item, is_foreign=is_foreign, depth=depth + 1) for item in value]
        case _:
            return value


def _is_name(key: str) -> bool:
    return key in _NAMES or key.endswith("_id")


def show_upload(path: str) -> str:
    """The path of an uploaded file as guests know it; of another file, its name."""
    _, found, rest = path.rpartition(PICTURES)
    return f"{PICTURES}{rest}" if found else path.rpartition("/")[2]


def _without_folder(block: Block) -> Block:
    """A picture's block with the end of its path, by which it is fetched."""
    if not isinstance(block, ImageBlock):
        return block
    return block.model_copy(update={"path": show_upload(block.path)})
