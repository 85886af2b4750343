"""The dialog with the secrets that a commit, a push or a text would publish."""

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.api import secrets as commands
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from model.domain.secret_findings import Publishing, SecretFinding
    from tui.desk import Desk

R = TypeVar("R")

_ACTS: "dict[Publishing, tuple[str, str]]" = {
    "commit": ("would be committed", "commit anyway"),
    "push": ("would be pushed", "push anyway"),
    "pull_request": ("would be published", "publish anyway"),
    "text": ("would be published", "publish anyway"),
}


class SecretsFound(Dialog[list[str]]):
    """Returns the fingerprints that may be published this time; else nothing happens.

    Args:
        findings: At least one.
        act: What they would become part of.
        allow: Allows a finding in the project for good.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "allow", show=False),
        Binding("ctrl+y", "go_on", show=False),
    ]

    def __init__(
        self,
        findings: "Sequence[SecretFinding]",
        act: "Publishing",
        allow: "Callable[[SecretFinding], Coroutine[Any, Any, None]]",
    ) -> None:
        super().__init__("Possible secrets")
        self._findings = list(findings)
        self._happens, self._anyway = _ACTS[act]
        self._allow = allow

    def body(self) -> list[Widget]:
        """What was found, where, and the keys."""
        return [
            Static(self._summary(), id="what", markup=False),
            OptionList(*self._options(), markup=False, compact=True),
            Static(id="problem", markup=False, classes="problem"),
            Static(
                keys_line(
                    ("esc", "back"),
                    ("a", "allow in the project"),
                    ("^y", self._anyway),
                ),
                classes="keys",
            ),
        ]

    def on_mount(self) -> None:
        """Focus the list."""
        options = self.query_one(OptionList)
        options.highlighted = 0
        options.focus()

    def _summary(self) -> str:
        return f"{count(len(self._findings), 'possible secret')} {self._happens}:"

    def _options(self) -> list[Option]:
        return [Option(_describe(found)) for found in self._findings]

    def action_allow(self) -> None:
        """Allow the highlighted finding in the project; with the last one the act goes on."""
        index = self.query_one(OptionList).highlighted
        if index is not None:
            self.run_worker(self._allow_one(self._findings[index]), exclusive=True)

    async def _allow_one(self, found: "SecretFinding") -> None:
        try:
            await self._allow(found)
        except SpinneyError as error:
            self.query_one("#problem", Static).update(error.message)
            return
        self._findings = [f for f in self._findings if f.fingerprint != found.fingerprint]
        if not self._findings:
            self.dismiss([])
            return
        options = self.query_one(OptionList)
        at = options.highlighted or 0
        options.clear_options()
        options.add_options(self._options())
        options.highlighted = min(at, len(self._findings) - 1)
        self.query_one("#what", Static).update(self._summary())

    def action_go_on(self) -> None:
        """Publish exactly these, this time."""
        self.dismiss([found.fingerprint for found in self._findings])


async def after_secrets(
    desk: "Desk",
    project_id: str,
    act: "Publishing",
    run: Callable[[list[str] | None], Coroutine[Any, Any, R]],
    /,
    **searched: Any,
) -> R:
    """Run an act; if secrets refuse it, show them, and run it again with those allowed.

    `run` gets the allowed fingerprints, and raises `SpinneyError`, which is raised again if it has
    another reason, or if the person goes back. `searched`: what `find_secrets` needs to know.
    """
    try:
        return await run(None)
    except SpinneyError as error:
        if error.error_type != "conflict":
            raise
        call = desk.client.call
        report = await call(commands.find_secrets, before=act, **searched)
        if not report.findings:
            raise

        async def allow(found: "SecretFinding") -> None:
            about = f"{found.label} in {found.path}"
            await call(
                commands.allow_secret,
                project_id=project_id,
                fingerprint=found.fingerprint,
                about=about,
            )

        allowed = await desk.ask(SecretsFound(report.findings, act, allow))
        if allowed is None:
            raise
    return await run(allowed)


def _describe(found: "SecretFinding") -> Content:
    place = found.path if found.line is None else f"{found.path}:{found.line}"
    commit = f"  in commit {found.commit}" if found.commit else ""
    return Content.assemble(
        (found.label, "bold"),
        f"  {clean_line(place)}{commit}",
        (f"  {clean_line(found.excerpt)}", "$text-muted"),
    )
