"""Every use of a regular expression: how the test calls it, or why it need not be measured.

The keys are `file: name`, as `tests/test_cost_of_foreign_text.py` finds them in the sources.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from model.domain.projects import Project
from model.git.conflict_markers import has_markers
from model.preferences.schema import Preferences
from model.secrets.scanner import find_for_guests, find_secrets
from model.worktrees.file_search import _index_paths
from tui.transcript.selection import text_span


def search(pattern: Any, text: str) -> object:
    """Search for the first match."""
    return pattern.search(text)


def match(pattern: Any, text: str) -> object:
    """Match at the beginning."""
    return pattern.match(text)


def fullmatch(pattern: Any, text: str) -> object:
    """Match the whole text."""
    return pattern.fullmatch(text)


def findall(pattern: Any, text: str) -> object:
    """Find all matches, as replacing and splitting do."""
    return pattern.findall(text)


def match_bytes(pattern: Any, text: str) -> object:
    """Match bytes, at one place after another."""
    return pattern.match(text.encode("utf-8", "surrogateescape"))


def findall_bytes(pattern: Any, text: str) -> object:
    """Find all matches in bytes."""
    return pattern.findall(text.encode("utf-8", "surrogateescape"))


def call_text_span(_pattern: Any, text: str) -> object:
    """Call the function that uses the expression on rows of a bounded length only."""
    return text_span(text)


def call(function: Any, text: str) -> object:
    """Call the function that contains the expression."""
    return function(text)


def call_with_config(function: Any, text: str) -> object:
    """Call the function with a folder whose git configuration is the text."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config").write_text(text)
        return function(Path(folder))


READERS: Final[dict[str, Callable[[Any, str], object]]] = {
    "model/agents/agents_file.py: _NAME": fullmatch,
    "model/backends/acp/errors.py: _KEY": search,
    "model/backends/acp/errors.py: _LIMIT": search,
    "model/backends/acp/errors.py: _REFUSED": search,
    "model/backends/acp/settings.py: _has_name": lambda called, text: called(text, text, ("plan",)),
    "model/backends/claude/models.py: _COMMAND": match,
    "model/backends/claude/transcripts.py: _ID": fullmatch,
    "model/backends/claude/transcripts.py: _NOT_ALPHANUMERIC": findall,
    "model/backends/claude/prompt.py: _UNQUOTED": fullmatch,
    "model/backends/codex/edits.py: _split_sides": call,
    "model/backends/codex/stream.py: unwrap_shell": call,
    "model/backends/codex/errors.py: _DELAY": search,
    "model/backends/codex/errors.py: format_retry_notice": lambda notice, text: notice(
        {"message": text}
    ),
    "model/backends/demo/directives.py: _ITEM": findall,
    "model/backends/demo/directives.py: _MARK": match,
    "model/backends/demo/directives.py: split_steps": call,
    "model/backends/demo/texts.py: fill_form": call,
    "model/backends/opencode/conversations.py: _ID": fullmatch,
    "model/backends/opencode/edits.py: _PATCH_FILE": match,
    "model/backends/opencode/errors.py: _CERTIFICATE_WORDS": search,
    "model/backends/opencode/errors.py: _KEY_WORDS": search,
    "model/backends/opencode/errors.py: _LIMIT_WORDS": search,
    "model/backends/opencode/errors.py: _NETWORK_WORDS": search,
    "model/backends/opencode/errors.py: _SPENT_WORDS": search,
    "model/backends/opencode/policy.py: _WRITING_OPTION": match,
    "model/backends/opencode/policy.py: _is_read_only": call,
    "model/backends/opencode/program.py: _is_signed_in": lambda signed, text: signed(text, "{}"),
    "model/backends/opencode/rules.py: _expression": lambda e, text: e("*a*a*a *").fullmatch(text),
    "model/backends/opencode/server.py: _LISTENS": search,
    "model/backends/program.py: _VERSION": search,
    "model/chat/agent_commands.py: _NAME": fullmatch,
    "model/chat/running_tools.py: _ERASING": findall,
    "model/chat/texts.py: _NUMBERED": findall,
    "model/chat/texts.py: _MENTIONS_PLAN": search,
    "model/chat/texts.py: _STEP": findall,
    "model/chat/texts.py: make_session_name": call,
    "model/chat/tool_outputs.py: _BOUNDARIES": lambda boundaries, text: [
        boundary.findall(text) for boundary in boundaries
    ],
    "model/client/address.py: without_token": call,
    "model/api/command.py: snake_case": call,
    "model/commands/secrets.py: _FINGERPRINT": fullmatch,
    "model/git/added_lines.py: _HUNK": match,
    "model/preferences/apply.py: _check_ntfy_url": lambda check, text: check(
        Preferences(notify_ntfy_url=f"https://{text}"), Preferences()
    ),
    "model/preferences/apply.py: _check_urls": lambda check, text: check(
        Preferences(notify_urls=[text]), Preferences()
    ),
    "model/preferences/apply.py: _is_web_address": call,
    "model/secrets/assignments.py: _ASSIGNMENT": findall,
    "model/secrets/assignments.py: _BEARER": findall,
    "model/secrets/assignments.py: _HEXADECIMAL": fullmatch,
    "model/secrets/assignments.py: _IN_URL": findall,
    "model/secrets/assignments.py: _LABEL": lambda _, text: find_secrets(text),
    "model/secrets/assignments.py: _NOT_A_VALUE": match,
    "model/secrets/assignments.py: _PLACEHOLDER": findall,
    "model/secrets/assignments.py: _VALUE": fullmatch,
    "model/secrets/assignments.py: _WORD": findall,
    "model/secrets/formats.py: _BEFORE": findall,
    "model/secrets/formats.py: KeyFormat.__post_init__": lambda _, text: find_secrets(text),
    "model/git/nested.py: _LEFT": match,
    "model/git/conflict_markers.py: _MARKERS": lambda _, text: has_markers(text.split("\n")),
    "model/secrets/key_pieces.py: _BEGIN": lambda _, text: find_for_guests(text),
    "model/secrets/key_pieces.py: _RUN": lambda _, text: find_for_guests(text),
    "model/secrets/key_pieces.py: _END": findall,
    "model/secrets/key_pieces.py: _LINE": lambda _, text: find_for_guests(text),
    "model/secrets/key_pieces.py: _LINE_ENDS": findall,
    "model/store/queries.py: _make_match": call,
    "model/richtext/diff_rows.py: _WORD": findall,
    "model/richtext/diff_text.py: _HUNK": match,
    "model/chat/uploads.py: _IMAGE_NAME": fullmatch,
    "model/chat/uploads.py: _SESSION_ID": fullmatch,
    "model/git/submodules.py: _UNWANTED": fullmatch,
    "model/git/cloning.py: _URL": fullmatch,
    "model/git/hosts.py: _SSH_URL": match,
    "model/git/hosts.py: _NAME": fullmatch,
    "model/git/hosts.py: _SCP_LIKE": fullmatch,
    "model/git/hosts.py: _URL": fullmatch,
    "model/git/merging.py: _NOT_UP_TO_DATE": findall,
    "model/git/branch_summary.py: _split_evenly": lambda split, text: split(text, 16_000),
    "model/git/three_way.py: _RAW_DATE": fullmatch,
    "model/git/refs.py: _FORBIDDEN": search,
    "model/git/refs.py: make_branch_name": call,
    "model/git/error_messages.py: _CREDENTIALS": findall,
    "model/git/error_messages.py: _FIRST_LABEL": search,
    "model/git/run.py: _UNKNOWN_FORMAT": search,
    "model/git/error_messages.py: _LABEL": findall,
    "model/git/safe_config.py: _COMMAND_SETTINGS": fullmatch,
    "model/git/safe_config.py: _FILE_SETTINGS": fullmatch,
    "model/git/safe_config.py: _INCLUDE_SETTING": fullmatch,
    "model/git/safe_config.py: _UPLOAD_PACK_SETTING": fullmatch,
    "model/git/ssh.py: _HOST": fullmatch,
    "model/base/code_block.py: code_block": call,
    "model/hosting/github/failures.py: to_error": lambda to_error, text: to_error(text, 1),
    "model/git/known_hosts.py: _GH_HOST": findall,
    "model/git/known_hosts.py: _GLAB_HOST": fullmatch,
    "model/git/known_hosts.py: _SCHEME": match,
    "model/hosting/github/check_logs.py: _TIME": findall_bytes,
    "model/hosting/gitlab/discussions.py: _BOT": match,
    "model/hosting/gitlab/discussions.py: _PUSHED": match,
    "model/hosting/gitlab/fields.py: _COLOR": fullmatch,
    "model/hosting/gitlab/glab.py: _STATUS_LINE": match,
    "model/hosting/gitlab/glab.py: _FAILED": search,
    "model/hosting/gitlab/merge_requests.py: _DRAFT": match,
    "model/hosting/gitlab/merge_requests.py: _QUICK_ACTION": findall,
    "model/hosting/gitlab/pipelines.py: _JOB": fullmatch,
    "model/hosting/gitlab/pipelines.py: _MERGE_REQUEST": fullmatch,
    "model/hosting/gitlab/pipelines.py: _TIMESTAMP": match,
    "model/hosting/gitlab/pipelines.py: _CONTROL": findall,
    "model/hosting/gitlab/projects.py: _URL": fullmatch,
    "model/hosting/gitlab/vulnerabilities.py: _PATCHED": search,
    "model/hosting/github/lists.py: _NEXT": search,
    "model/hosting/github/lists.py: _parse_label": lambda parse, text: parse({"color": text}),
    "model/hosting/github/pull_requests.py: _LINK": findall,
    "model/hosting/linear.py: _ID": fullmatch,
    "model/hosting/log_end.py: _LONG_LINE": findall_bytes,
    "model/hosting/linear.py: _color": lambda color, text: color({"color": text}),
    "model/base/masking.py: _SECRETS": findall,
    "model/git/log.py: _COMMIT_ID": fullmatch,
    "tui/transcript/selection.py: _DECORATION": call_text_span,
    "model/git/stashes.py: _SUBJECT": match,
    "model/richtext/markdown.py: _DEFINITION": search,
    "model/richtext/markdown.py: _SIGN": findall,
    "model/richtext/markdown.py: _OPEN_FENCE": match,
    "model/richtext/markdown.py: _CONTINUES_PARAGRAPH": match,
    "model/richtext/markdown.py: _OpenFence.__init__": lambda fence, text: fence("```", "").is_end(
        text
    ),
    "model/backends/model_lists.py: _SMALL": search,
    "model/base/git_layout.py: _configured_worktree": call_with_config,
    "model/base/text.py: _ASCII_CONTROL": search,
    "model/base/text.py: _COLOR": findall,
    "model/base/text.py: _MARK": findall,
    "model/base/text.py: _UNDECIDED": search,
    "model/base/text.py: _hidden": lambda hidden, text: hidden().search(text),
    "model/base/text.py: _runs": lambda runs, text: runs().findall(text),
    "model/base/text.py: make_output_visible": call,
    "model/store/damaged_rows.py: _ESCAPED": findall,
    "model/store/damaged_rows.py: _TEXT_START": search,
    "model/store/damaged_rows.py: _extract_fields": lambda fields, text: fields(Project, text),
    "model/git/replacing.py: _TEMPORARY": fullmatch,
    "model/git/snapshots/trees.py: _SHA1_ENTRY": match_bytes,
    "model/git/snapshots/trees.py: _SHA256_ENTRY": match_bytes,
    "model/worktrees/file_search.py: _find_best": lambda find, text: find(
        _index_paths([text]), text[:20], 9
    ),
    "model/worktrees/kept_files.py: _OWNER": fullmatch,
    "model/worktrees/lookup.py: to_folder_name": call,
    "model/writing/writer.py: _MARKDOWN_FENCE": fullmatch,
    "model/writing/writer.py: _split_by_tags": lambda split, text: split(text, ("a", "b")),
    "server/auth.py: _HOST": fullmatch,
    "server/auth.py: _ORIGIN": fullmatch,
    "server/middleware.py: _HEADER_LIST": fullmatch,
    "server/lite/conversation.py: _POSITION": fullmatch,
    "server/lite/html.py: _SAFE_URL": match,
    "server/lite/richtext.py: _CHUNK": findall,
    "server/lite/handlers.py: _RETURN_PATH": fullmatch,
    "server/static.py: _PAGE_ADDRESS": fullmatch,
    "tui/composer/draft_store.py: _file_name": call,
    "tui/terminal/frame_difference.py: _END_BLANKS": findall,
    "tui/terminal/frame_difference.py: _INNER_BLANKS": findall,
    "tui/terminal/frame_difference.py: _RUN": lambda e, text: e.findall(text.encode()),
    "tui/terminal/input_parser.py: _BACKGROUND": fullmatch,
    "tui/terminal/input_parser.py: _COLORS_CHANGED": fullmatch,
    "tui/terminal/input_parser.py: _CURSOR": fullmatch,
    "tui/terminal/input_parser.py: _KEY": fullmatch,
    "tui/terminal/input_parser.py: _KEYBOARD": fullmatch,
    "tui/terminal/input_parser.py: _KEY_LIKE": fullmatch,
    "tui/terminal/input_parser.py: _KITTY": match,
    "tui/terminal/input_parser.py: _MODE": fullmatch,
    "tui/terminal/input_parser.py: _MOUSE": fullmatch,
    "tui/terminal/input_parser.py: _OLD_ARROW": fullmatch,
    "tui/terminal/input_parser.py: _OTHER_KEY": fullmatch,
    "tui/terminal/input_parser.py: _SIZE": fullmatch,
    "tui/terminal/input_parser.py: _OLD_FUNCTION_KEY": fullmatch,
    "tui/draw/plain_markdown.py: _MARKUP": lambda signs, text: [
        sign.findall(text) for sign, _ in signs
    ],
    "tui/terminal/output_filters.py: _MANY_COLORS": fullmatch,
    "tui/screens/add_project.py: _URL": match,
    "tui/screens/add_project.py: _directory_name": call,
    "tui/screens/new_worktree.py: number_in": call,
    "tui/terminal/sequences.py: _INCOMPLETE": match,
    "tui/terminal/sequences.py: _BREAKS": findall,
    "tui/terminal/sequences.py: _BROKEN": match,
    "tui/terminal/sequences.py: _PIECE": findall,
    "tui/terminal/sequences.py: _PLAIN": match,
    "tui/terminal/sequences.py: _TORN_REST": match,
    "tui/terminal/sequences.py: _SEQUENCE": match,
    "tui/terminal/sequences.py: _STRING": match,
    "tui/terminal/sequences.py: _STRING_END": search,
    "tui/transcript/targets.py: _FILE": findall,
    "tui/transcript/targets.py: _LINK": findall,
    "tui/tree/filter.py: find_occurrences": lambda find, text: list(find(text[:20], text)),
    "tui/tree/rows.py: _COLOR": fullmatch,
    "tui/composer/completion.py: _FILE": search,
    "tui/composer/completion.py: _COMMAND": search,
    "tui/composer/completion.py: _WRITTEN_COMMAND": search,
    "tui/draw/wrap.py: _UNIT": findall,
}

OTHERS: Final = {
    "model/backends/demo/agent.py: DemoAgent._say": "only texts of the demo agent's own",
    "model/store/backups.py: _NAME": "names in Spinney's own directory",
    "model/backends/opencode/requests.py: _reply": "a person's answer; each comma is met once",
    "model/hosting/polling.py: _find_head": "whole commit ids, of 40 or 64 characters",
    "model/client/address.py: parse_address": "one address on the person's own command line",
    "model/cli/command_parser.py: count": "the person's own command line",
    "model/cli/command_parser.py: days": "the person's own command line",
    "model/cli/command_parser.py: number": "the person's own command line",
    "model/cli/command_parser.py: port": "the person's own command line",
    "model/cli/command_parser.py: seconds": "the person's own command line",
    "model/cli/command_parser.py: token": "the person's own command line",
    "model/api/worktrees.py: _validate_label": "a color of seven characters at most",
    "model/git/cloning.py: _ProgressReader.feed": "a set of two characters, in pieces of 64 kB",
    "model/git/run.py: _read_version": "what the installed git says of its version",
    "model/git/ssh.py: resolve_host": "settings that the person's own ssh lists, one on each line",
    "model/base/masking.py: SecretMasker.__init__": "the person's own secrets, letter by letter",
    "model/base/masking.py: _SECRET_NAME": "names in the person's own environment and settings",
    "model/base/paths.py: _remove_stale": "names in Spinney's own directories",
    "model/preferences/apply.py: _check_token": "a token that the person writes",
    "model/preferences/prompts.py: _VARIABLE": "prompts that the person writes",
    "model/hosting/github/lists.py: _NOT_A_LOGIN": "a login that the person writes",
    "model/hosting/linear.py: _KEY": "the person's own key",
    "model/store/damaged_rows.py: _find_repository": "the beginning of one file, see `_MAX_LINK`",
    "server/static.py: StaticFiles._substitute": "names of Spinney's own files",
    "server/static.py: _COMMENT": "Spinney's own scripts",
    "server/theme_css.py: _NOT_CODE_COLOR": "names in Spinney's own themes",
    "themes/high_contrast.py: _CODE": "names in Spinney's own themes",
    "tui/actions/pull_requests.py: _resolve_pull_request": "one address that a person typed",
    "tui/terminal/open_commands.py: find_text_editor": "the person's own $EDITOR",
    "tui/composer/dropped_files.py: find_dropped_files": "at most 20,000 characters, in a thread",
    "tui/composer/completion_rows.py: _has_part": "names of at most 100 characters",
    "tui/composer/draft.py: Draft.add_image": "the name of one file",
    "tui/composer/draft.py: _replace_chips": "Spinney's own signs in what a person writes",
    "model/preferences/fields.py: entry_label": "the names of Spinney's own preferences",
    "tui/screens/preferences_rows.py: explain_refusal": "Spinney's own sentence",
    "tui/screens/new_worktree.py: NewWorktree._problem_of": "Spinney's own sentence",
    "tui/screens/new_worktree.py: _title": "a row that was made of a number and a line",
    "tui/transcript/find.py: Finder.set_query": "the person's own words, letter by letter",
    "tui/transcript/selection.py: _WORD": "one row of a screen",
    "tui/tree/filter.py: Outline.find": "the person's own words, letter by letter",
    "tui/keys/word_match.py: WordMatch.is_in": "sentences of Spinney's own commands",
    "tui/keys/word_match.py: _match_word": "titles of Spinney's own commands",
    "tui/keys/word_match.py: _match_word_parts": "titles of Spinney's own commands",
}
"""Uses that need not be measured, with the reason."""
