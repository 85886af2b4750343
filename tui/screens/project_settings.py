"""The dialog with a project's settings; empty fields use the preferences."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Label, SelectionList, Static, TextArea
from textual.widgets.selection_list import Selection

from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.screens.choose import Choice
from tui.screens.dialog import Dialog
from tui.screens.landing_choices import METHODS
from tui.screens.pick import Load, Pick
from tui.screens.pick_field import LABEL_WIDTH, PickField
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from model.domain.projects import Project

FROM_PREFERENCES: Final = Choice("", "as in the preferences")
_METHODS: Final = (FROM_PREFERENCES, *METHODS)


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """All settings of a project; an empty value removes the project's own."""

    backend: str
    provider: str
    branch: str
    directory: str
    prompt: str
    method: str
    """How a branch lands."""
    servers: tuple[str, ...] | None
    """The enabled MCP servers; `None` for those of the preferences."""
    template: str = ""
    """What new branches are named."""
    tracker_team: str = ""
    """The id of the team of the issue tracker."""
    tracker_key: str = ""
    """A new key for the issue tracker; empty keeps the present one, `-` removes it."""
    budget: str = ""
    """Dollars for each day; 0 for no limit."""
    allowed_secrets: tuple[str, ...] = ()
    """Fingerprints of what may be committed although it looks like a secret."""


def settings_of(project: "Project") -> ProjectSettings:
    """Return the present settings of a project."""
    servers = project.enabled_mcp_servers
    return ProjectSettings(
        project.default_backend or "",
        project.default_provider or "",
        project.default_branch,
        project.worktrees_dir or "",
        project.custom_system_prompt or "",
        project.landing_method or "",
        None if servers is None else tuple(servers),
        project.branch_template or "",
        project.tracker_team_id or "",
        budget="" if project.budget_usd is None else f"{project.budget_usd:.12g}",
        allowed_secrets=tuple(project.allowed_secrets),
    )


class EditProject(Dialog[ProjectSettings]):
    """Agent, provider profile, branches, budget, instructions, servers, tracker and more."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+g", "save", show=False, priority=True),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (32, "-high")]  # noqa: RUF012 (as Textual has it)

    def __init__(
        self,
        project: "Project",
        agents: Sequence[Choice],
        profiles: Sequence[Choice],
        branches: Load,
        teams: Load,
        servers: Sequence[str],
        used_today: Callable[[], Awaitable[str]],
        filled_in: ProjectSettings,
        problem: str = "",
    ) -> None:
        super().__init__(f"Settings of {clean_line(project.name)}")
        self._agents = [FROM_PREFERENCES, *agents]
        self._profiles = [FROM_PREFERENCES, *profiles]
        self._branches = branches
        self._teams = teams
        self._servers = servers
        self._used_today = used_today
        self._secrets = project.allowed_secrets
        self._given = filled_in
        self._problem = problem

    def body(self) -> list[Widget]:
        """The fields."""
        given = self._given
        agent = next((a for a in self._agents if a.value == given.backend), self._agents[0])
        problem = [Static(self._problem, markup=False, classes="problem")] if self._problem else []
        return [
            *problem,
            PickField("Agent", agent, self._pick_agent, id="agent"),
            *self._provider_field(),
            PickField(
                "Base branch", Choice(given.branch, given.branch), self._pick_branch, id="branch"
            ),
            self._method_field(),
            Horizontal(
                Label("Branch names".ljust(LABEL_WIDTH)),
                TextField(
                    given.template,
                    id="template",
                    placeholder="as in the preferences, such as {user}/{slug}",
                    compact=True,
                ),
                classes="field",
            ),
            Horizontal(
                Label("Daily budget".ljust(LABEL_WIDTH)),
                TextField(
                    given.budget,
                    id="budget",
                    placeholder="as in the preferences; in dollars, 0 for none",
                    compact=True,
                ),
                classes="field",
            ),
            Static("Used today: …", id="used-today", markup=False),
            Label("Worktree directory"),
            TextField(given.directory, id="directory", placeholder="in ~/spinney", compact=True),
            Label("Instructions for all agents in this project"),
            TextArea(given.prompt, id="prompt", compact=True, highlight_cursor_line=False),
            *self._server_list(),
            *self._tracker_fields(),
            *self._secret_list(),
            Static(
                keys_line(
                    ("^g", "save"),
                    ("tab", "next field"),
                    ("space", "choose"),
                    ("esc", "cancel"),
                ),
                classes="keys",
            ),
        ]

    def _provider_field(self) -> list[Widget]:
        """The provider profile, if any profile exists."""
        present = self._given.provider
        if len(self._profiles) == 1 and not present:
            return []
        gone = Choice(present, clean_line(present), "no longer exists")
        chosen = next((each for each in self._profiles if each.value == present), gone)
        return [PickField("Provider profile", chosen, self._pick_profile, id="provider")]

    def _method_field(self) -> Widget:
        chosen = next(each for each in _METHODS if each.value == self._given.method)
        return PickField("Lands by", chosen, self._pick_method, steps=_METHODS, id="method")

    def _tracker_fields(self) -> list[Widget]:
        """The key, which is never shown, and the team of the issue tracker."""
        team = self._given.tracker_team
        key = TextField(
            self._given.tracker_key,
            id="tracker-key",
            placeholder="unchanged; a new key, or - to remove it",
            password=True,
            compact=True,
        )
        return [
            Horizontal(Label("Tracker key".ljust(LABEL_WIDTH)), key, classes="field"),
            PickField("Tracker team", Choice(team, team or "none"), self._pick_team, id="team"),
        ]

    def _server_list(self) -> list[Widget]:
        if not self._servers:
            return []
        chosen = self._given.servers
        entries = [
            Selection(FROM_PREFERENCES.label, "", chosen is None),
            *(Selection(clean_line(name), name, name in (chosen or ())) for name in self._servers),
        ]
        return [Label("MCP servers"), SelectionList[str](*entries, id="servers", compact=True)]

    def _secret_list(self) -> list[Widget]:
        """What may be committed although it looks like a secret, if anything."""
        if not self._secrets:
            return []
        entries = [
            Selection(clean_line(about) or digest, digest, digest in self._given.allowed_secrets)
            for digest, about in self._secrets.items()
        ]
        return [
            Label("Allowed secrets"),
            SelectionList[str](*entries, id="secrets", compact=True),
        ]

    def on_mount(self) -> None:
        """Focus the first field."""
        self.query_one("#agent").focus()
        self.run_worker(self._show_used_today(), exit_on_error=False)
        if self._given.tracker_team:
            self.run_worker(self._name_team(), exit_on_error=False)

    async def _show_used_today(self) -> None:
        try:
            used = await self._used_today()
        except SpinneyError as error:
            used = error.message
        self.query_one("#used-today", Static).update(f"Used today: {used}")

    async def _name_team(self) -> None:
        """Show the name of the team in place of its id."""
        with suppress(SpinneyError):  # what is wrong is said in the list of teams
            for team in await self._teams():
                if team.value == self._given.tracker_team:
                    self.query_one("#team", PickField).set_choice(team)

    def _pick_agent(self, present: str, typed: str) -> Pick:
        return Pick("Agent", self._agents, present, typed=typed)

    def _pick_profile(self, present: str, typed: str) -> Pick:
        return Pick("Provider profile", self._profiles, present, typed=typed)

    def _pick_method(self, present: str, typed: str) -> Pick:
        return Pick("Lands by", _METHODS, present, typed=typed)

    def _pick_team(self, present: str, typed: str) -> Pick:
        async def load() -> Sequence[Choice]:
            return [Choice("", "none"), *await self._teams()]

        return Pick("Team of the issue tracker", load, present, typed=typed)

    def _pick_branch(self, present: str, typed: str) -> Pick:
        return Pick("Base branch", self._branches, present, typed=typed)

    @on(SelectionList.SelectionToggled, "#servers")
    def _toggled(self, event: "SelectionList.SelectionToggled[str]") -> None:
        """Keep "as in the preferences" and named servers mutually exclusive."""
        event.stop()
        servers = event.selection_list
        if event.selection.value == "":
            for name in [name for name in servers.selected if name]:
                servers.deselect(name)
        else:
            servers.deselect("")

    @on(Input.Submitted)
    @on(PickField.Submitted)
    def _submitted(self, event: Input.Submitted | PickField.Submitted) -> None:
        event.stop()
        self.action_save()

    def action_save(self) -> None:
        """Close with the settings."""
        servers = self._given.servers
        for found in self.query("#servers").results(SelectionList):
            chosen = list(found.selected)
            servers = None if "" in chosen else tuple(chosen)
        allowed = self._given.allowed_secrets
        for found in self.query("#secrets").results(SelectionList):
            allowed = tuple(found.selected)
        providers = self.query("#provider").results(PickField)
        provider = next((field.choice.value for field in providers), self._given.provider)
        self.dismiss(
            ProjectSettings(
                self.query_one("#agent", PickField).choice.value,
                provider,
                self.query_one("#branch", PickField).choice.value,
                self.query_one("#directory", Input).value.strip(),
                self.query_one("#prompt", TextArea).text.strip(),
                self.query_one("#method", PickField).choice.value,
                servers,
                self.query_one("#template", Input).value.strip(),
                self.query_one("#team", PickField).choice.value,
                self.query_one("#tracker-key", Input).value.strip(),
                self.query_one("#budget", Input).value.strip(),
                allowed,
            )
        )
