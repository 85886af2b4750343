"""A project's own settings; what is left empty is as usual."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, Label, SelectionList, Static, TextArea
from textual.widgets.selection_list import Selection

from model.base.text import clean_line
from tui.screens.choose import Choice
from tui.screens.dialog import Dialog
from tui.screens.pick import Load, Pick
from tui.screens.pick_field import PickField
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from model.domain.resources import Project

AS_USUAL: Final = Choice("", "as the preferences say")


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """All of them, as they should be; empty gives up the project's own value."""

    backend: str
    provider: str
    branch: str
    directory: str
    prompt: str
    servers: tuple[str, ...] | None
    """MCP servers that are on; `None`: those that the preferences name."""


def settings_of(project: "Project") -> ProjectSettings:
    """As they are now."""
    servers = project.enabled_mcp_servers
    return ProjectSettings(
        project.default_backend or "",
        project.default_provider or "",
        project.default_branch,
        project.worktrees_dir or "",
        project.custom_system_prompt or "",
        None if servers is None else tuple(servers),
    )


class EditProject(Dialog[ProjectSettings]):
    """Agent and its account, branch, directory of worktrees, instructions, MCP servers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+g", "save", show=False, priority=True),
    ]

    def __init__(
        self,
        project: "Project",
        agents: Sequence[Choice],
        profiles: Sequence[Choice],
        branches: Load,
        servers: Sequence[str],
        filled_in: ProjectSettings,
        problem: str = "",
    ) -> None:
        super().__init__(f"Settings of {clean_line(project.name)}")
        self._agents = [AS_USUAL, *agents]
        self._profiles = [AS_USUAL, *profiles]
        self._branches = branches
        self._servers = servers
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
                "Branch off", Choice(given.branch, given.branch), self._pick_branch, id="branch"
            ),
            Label("Directory of its worktrees"),
            TextField(
                given.directory, id="directory", placeholder="one in ~/spinney", compact=True
            ),
            Label("Instructions that every agent gets here"),
            TextArea(given.prompt, id="prompt", compact=True, highlight_cursor_line=False),
            *self._server_list(),
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
        """The account of its agents, where there is another than each program's own."""
        present = self._given.provider
        if len(self._profiles) == 1 and not present:
            return []
        gone = Choice(present, clean_line(present), "is not there any more")
        chosen = next((each for each in self._profiles if each.value == present), gone)
        return [PickField("Provider profile", chosen, self._pick_profile, id="provider")]

    def _server_list(self) -> list[Widget]:
        if not self._servers:
            return []
        chosen = self._given.servers
        entries = [
            Selection(AS_USUAL.label, "", chosen is None),
            *(Selection(clean_line(name), name, name in (chosen or ())) for name in self._servers),
        ]
        return [Label("MCP servers"), SelectionList[str](*entries, id="servers", compact=True)]

    def on_mount(self) -> None:
        """Begin at the first field."""
        self.query_one("#agent").focus()

    def _pick_agent(self, present: str, typed: str) -> Pick:
        return Pick("Agent", self._agents, present, typed=typed)

    def _pick_profile(self, present: str, typed: str) -> Pick:
        return Pick("Provider profile", self._profiles, present, typed=typed)

    def _pick_branch(self, present: str, typed: str) -> Pick:
        return Pick("Branch off", self._branches, present, typed=typed)

    @on(SelectionList.SelectionToggled)
    def _toggled(self, event: "SelectionList.SelectionToggled[str]") -> None:
        """'As the preferences say' and servers by name exclude each other."""
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
        """Take all of it."""
        servers = self._given.servers
        for found in self.query("#servers").results(SelectionList):
            chosen = list(found.selected)
            servers = None if "" in chosen else tuple(chosen)
        providers = self.query("#provider").results(PickField)
        provider = next((field.choice.value for field in providers), self._given.provider)
        self.dismiss(
            ProjectSettings(
                self.query_one("#agent", PickField).choice.value,
                provider,
                self.query_one("#branch", PickField).choice.value,
                self.query_one("#directory", Input).value.strip(),
                self.query_one("#prompt", TextArea).text.strip(),
                servers,
            )
        )
