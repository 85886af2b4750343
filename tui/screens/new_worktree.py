"""The dialog that creates a worktree with a first message for its agent."""

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from model.base.errors import SpinneyError
from model.domain.modes import ExecutionMode
from model.domain.worktrees import IncludedFiles, IssueContext, PullRequestContext
from tui.composer.message_area import MessageArea
from tui.screens.choose import Choice
from tui.screens.dialog import Dialog
from tui.screens.pick import Load, Pick
from tui.screens.pick_field import LABEL_WIDTH, PickField
from tui.screens.searching_pick import SearchEntries, SearchingPick
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

NONE: Final = Choice("", "none")
_MODES: Final[dict[ExecutionMode, str]] = {
    "plan": "proposes a plan, changes nothing",
    "build": "edits files, asks before most commands",
    "yolo": "does everything without asking",
}
_MODE_CHOICES: Final = tuple(Choice(mode, mode, what) for mode, what in _MODES.items())
_EXISTING: Final = Choice("\n", "existing branch …", "check it out, without a new branch")
"""Asks for the branch; the value of one begins like this one's, as no name of a branch does."""
_NEW_BRANCH: Final = "a new branch from it"
_DEFAULT_MODEL: Final = Choice("", "default")


@dataclass(frozen=True, slots=True)
class WantedWorktree:
    """The dialog's input; empty fields use the defaults."""

    message: str = ""
    name: str = ""
    base: str = ""
    branch: str = ""
    """An existing branch to check out instead of creating one."""
    issue: Choice = NONE
    """The issue; its value is `12` or, if typed, `12 Its title`."""
    pull_request: Choice = NONE
    backend: str = ""
    model: str = ""
    mode: ExecutionMode = "plan"


@dataclass(frozen=True, slots=True)
class UnmadeWorktree:
    """The input for a worktree that could not be created, and the reason."""

    wanted: WantedWorktree = WantedWorktree()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Offers:
    """The available choices; lists are loaded when they are opened."""

    branches: Load
    issues: Load
    pull_requests: Load
    search_issues: SearchEntries
    search_pull_requests: SearchEntries
    agents: Sequence[Choice]
    """The default one first."""
    models: Callable[[str], Load]
    """The models of an agent, given its name or '' for the default one."""
    included_files: Callable[[], Awaitable[IncludedFiles]]
    """The ignored files that the worktree will get."""


class NewWorktree(Dialog[WantedWorktree]):
    """First message, name, base or existing branch, agent, model and mode; all optional.

    Args:
        project: The project's name.
        default_branch: The default base branch.
        offers: The available choices.
        filled_in: The input of an attempt that failed.
        problem: Why it failed; shown at the field that caused it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+tab", "back_or_mode", show=False, priority=True),
        Binding("ctrl+o", "other_work", show=False, priority=True),
    ]

    def __init__(
        self,
        project: str,
        default_branch: str,
        offers: Offers,
        filled_in: WantedWorktree | None = None,
        problem: str = "",
    ) -> None:
        super().__init__(f"New worktree in {project}")
        self._default_branch = default_branch
        self._offers = offers
        self._filled_in = filled_in or WantedWorktree()
        self._new_branch = Choice("", default_branch, _NEW_BRANCH)
        self._start = self._new_branch
        """The base branch or the existing one."""
        self.left = WantedWorktree()
        """The input, once the dialog was left without creating anything."""
        self.wants_other_work = False
        """Whether the dialog was left for the lists of other work to begin from."""
        self._problem = problem
        self._problem_at = _field_of(problem) if problem else ""

    def body(self) -> list[Widget]:
        """The fields, the most important first."""
        given, offers = self._filled_in, self._offers
        if given.branch:
            self._start = _existing(given.branch)
        elif given.base:
            self._start = Choice(given.base, given.base, _NEW_BRANCH)
        model = Choice(given.model, given.model or _DEFAULT_MODEL.label)
        mode = _chosen(given.mode, _MODE_CHOICES)
        return [
            *self._problem_of(""),
            Label("What should the agent do?"),
            MessageArea(
                id="message",
                placeholder="First message; leave empty to start later",
                can_submit_empty=True,
            ),
            Horizontal(
                Label("Name".ljust(LABEL_WIDTH)),
                TextField(given.name, id="name", placeholder="generated if empty", compact=True),
                classes="field",
            ),
            *self._problem_of("name"),
            PickField("Mode", mode, self._modes, steps=_MODE_CHOICES, id="mode"),
            PickField(
                "Agent",
                _chosen(given.backend, offers.agents),
                self._agents,
                steps=offers.agents,
                id="agent",
            ),
            PickField("Model", model, self._models, id="model"),
            PickField("Start from", self._start, self._branches, id="base"),
            *self._problem_of("base"),
            PickField("Issue", given.issue, self._issues, id="issue"),
            PickField("Pull request", given.pull_request, self._pull_requests, id="pull-request"),
            Static("", id="included", markup=False),
            Static(_keys(is_message=True), classes="keys"),
        ]

    def on_descendant_focus(self) -> None:
        """Show the keys of the focused field."""
        is_message = self.focused is self.query_one("#message")
        self.query_one(".keys", Static).update(_keys(is_message=is_message))

    def _problem_of(self, field: str) -> list[Widget]:
        if not self._problem or self._problem_at != field:
            return []
        text = re.sub(r"^Invalid field '\w+': ", "", self._problem)
        return [Static(text[:1].upper() + text[1:], markup=False, classes="problem")]

    def on_mount(self) -> None:
        """Focus the message, or the field with the problem."""
        area = self.query_one("#message", MessageArea)
        area.text = self._filled_in.message
        area.move_cursor(area.document.end)
        self.query_one(f"#{self._problem_at or 'message'}").focus()
        self.run_worker(self._show_included())

    async def _show_included(self) -> None:
        """Say which ignored files the worktree will get; the creation does not depend on it."""
        with suppress(SpinneyError):
            included = await self._offers.included_files()
            line = self.query_one("#included", Static)
            line.update(included.summary)
            line.display = bool(included.summary)

    # The lists ----------------------------------------------------------------------------------

    def _branches(self, present: str, typed: str) -> Pick:
        present = present or self._default_branch
        load = _with_first(_EXISTING, self._offers.branches)
        return Pick("Start from", load, present, typed=typed, own="use")

    def _choose_existing(self) -> None:
        present = self._start.value.removeprefix(_EXISTING.value)
        dialog = Pick("Existing branch", self._offers.branches, present, own="use")
        self.app.push_screen(dialog, self._existing_chosen)

    def _existing_chosen(self, choice: Choice | None) -> None:
        if choice is not None:
            self._set_start(_existing(choice.value))
            self.query_one("#pull-request", PickField).set_choice(NONE)

    def _set_start(self, choice: Choice) -> None:
        self._start = choice
        self.query_one("#base", PickField).set_choice(choice)

    def _models(self, present: str, typed: str) -> Pick:
        load = _with_first(_DEFAULT_MODEL, self._offers.models(self._choice("agent").value))
        return Pick("Model", load, present, typed=typed, own="use")

    def _issues(self, present: str, typed: str) -> Pick:
        load, search = _with_first(NONE, self._offers.issues), self._offers.search_issues
        return SearchingPick("Issue", load, present, search, typed=typed, own="use issue")

    def _pull_requests(self, present: str, typed: str) -> Pick:
        load = _with_first(NONE, self._offers.pull_requests)
        search, own = self._offers.search_pull_requests, "use pull request"
        return SearchingPick("Pull request", load, present, search, typed=typed, own=own)

    def _agents(self, present: str, typed: str) -> Pick:
        return Pick("Agent", self._offers.agents, present, typed=typed)

    def _modes(self, present: str, typed: str) -> Pick:
        return Pick("Mode", _MODE_CHOICES, present, typed=typed)

    def action_back_or_mode(self) -> None:
        """In the message change the mode, as in a conversation; elsewhere go a field back."""
        if self.focused is self.query_one("#message"):
            self.query_one("#mode", PickField).action_step(1)
        else:
            self.focus_previous()

    @on(PickField.Changed)
    def _changed(self, event: PickField.Changed) -> None:
        """Check a typed issue or pull request number; start the message with the issue's title."""
        event.stop()
        field = event.field
        if field.id == "agent":
            self.query_one("#model", PickField).set_choice(_DEFAULT_MODEL)
        elif field.id == "base" and field.choice == _EXISTING:
            field.set_choice(self._start)
            self._choose_existing()
        elif field.id == "base":
            self._set_start(replace(field.choice, description=_NEW_BRANCH))
        if field.id not in ("issue", "pull-request") or not field.choice.value:
            return
        number = number_in(field.choice.value)
        if number is None:
            field.set_choice(NONE)
            self.notify(
                "Not a number. Enter the number of the issue or pull request, such as 12.",
                markup=False,
            )
            return
        if "\n" not in field.choice.value:
            title = _title(field.choice)
            field.set_choice(Choice(field.choice.value, f"#{number} {title}".rstrip()))
        other = "pull-request" if field.id == "issue" else "issue"
        self.query_one(f"#{other}", PickField).set_choice(NONE)
        if field.id == "pull-request" and self._start.value.startswith(_EXISTING.value):
            self._set_start(self._new_branch)
        area = self.query_one("#message", MessageArea)
        if field.id == "issue" and not area.text.strip():
            area.text = f"Resolve issue {field.choice.label}"

    @on(Input.Submitted)
    @on(MessageArea.Submitted)
    @on(PickField.Submitted)
    def _submitted(
        self, event: Input.Submitted | MessageArea.Submitted | PickField.Submitted
    ) -> None:
        event.stop()
        self.dismiss(self._read())

    def action_leave(self) -> None:
        """Close, and keep what was filled in for the next time."""
        self.left = self._read()
        super().action_leave()

    def action_other_work(self) -> None:
        """Close for the lists of runs, alerts and the issue tracker; keep what was filled in."""
        self.wants_other_work = True
        self.action_leave()

    def _read(self) -> WantedWorktree:
        start = self._start.value
        branch = start.removeprefix(_EXISTING.value) if start.startswith(_EXISTING.value) else ""
        return WantedWorktree(
            message=self.query_one("#message", MessageArea).draft.text_to_send().strip(),
            name=self.query_one("#name", Input).value.strip(),
            base="" if branch else start,
            branch=branch,
            issue=self._choice("issue"),
            pull_request=self._choice("pull-request"),
            backend=self._choice("agent").value,
            model=self._choice("model").value,
            mode=next(mode for mode in _MODES if mode == self._choice("mode").value),
        )

    def _choice(self, field: str) -> Choice:
        return self.query_one(f"#{field}", PickField).choice


def _keys(*, is_message: bool) -> Content:
    own = [("⇧tab", "mode")] if is_message else [("← →", "choose"), ("space", "list")]
    return keys_line(
        ("enter", "create"), ("tab", "field"), *own, ("^o", "other work"), ("esc", "cancel")
    )


def _existing(branch: str) -> Choice:
    return Choice(_EXISTING.value + branch, branch, "existing")


def number_in(value: str) -> int | None:
    """Return the number of an issue or pull request: 12 for `12` and `#12 Its title`."""
    found = re.match(r"#?(\d{1,9})(?:\s|$)", value)
    return int(found[1]) if found and int(found[1]) > 0 else None


def issue_context(choice: Choice) -> IssueContext | None:
    """Return the chosen issue."""
    number = number_in(choice.value)
    if number is None:
        return None
    return IssueContext(number=number, title=_title(choice) or "issue")


def pull_request_context(choice: Choice, default_branch: str) -> PullRequestContext | None:
    """Return the chosen pull request; only the number is known of a typed one."""
    number = number_in(choice.value)
    if number is None:
        return None
    _, _, branches = choice.value.partition("\n")
    head, _, base = branches.partition("\n")
    return PullRequestContext(
        number=number,
        title=_title(choice) or f"Pull request {number}",
        head_ref_name=head or f"pr-{number}",
        base_ref_name=base or default_branch,
    )


def _title(choice: Choice) -> str:
    """Return the text after the number."""
    return re.sub(r"^#?\d+\s*", "", choice.label if "\n" in choice.value else choice.value).strip()


def _with_first(first: Choice, load: Load) -> Load:
    async def load_with_first() -> Sequence[Choice]:
        return [first, *await load()]

    return load_with_first


def _chosen(value: str, offers: Sequence[Choice]) -> Choice:
    return next((offer for offer in offers if offer.value == value), offers[0])


def _field_of(problem: str) -> str:
    """Return the field that an error message is about."""
    if any(phrase in problem for phrase in ("'baseBranch'", "'branch'", "is checked out in")):
        return "base"
    names = ("'customName'", "Worktree name already", "Branch already", "Worktree path already")
    return "name" if any(phrase in problem for phrase in names) else ""
