"""The dialog that lands a worktree: what would happen, how, and the message; or why it cannot."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.composer.message_area import MessageArea
from tui.landing.preview_words import describe_preview, list_ways_out
from tui.screens.choose import Choice
from tui.screens.landing_choices import AFTERWARDS, METHODS, read_after
from tui.screens.pick import Pick
from tui.screens.pick_field import PickField
from tui.screens.working import Working
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from textual.worker import WorkType

    from model.domain.hosting import MergeMethod
    from model.domain.landing import AfterLanding, Landing, LandingPreview


@dataclass
class LandDraft:
    """The dialog's input, kept until it has landed."""

    message: str = ""
    """As the user wrote it; empty to take the suggested one."""


@dataclass(frozen=True, slots=True)
class LandWish:
    """How a worktree is to land."""

    base_commit: str
    method: "MergeMethod"
    message: str | None
    after: "AfterLanding"
    delete_remote_branch: bool
    ignore_check: bool


@dataclass(frozen=True, slots=True)
class LandWork:
    """The operations on the worktree."""

    preview: "Callable[[MergeMethod | None], Coroutine[Any, Any, LandingPreview]]"
    """Computes what landing it with a method would do; `None` for the method of the preferences."""
    land: "Callable[[LandWish], Coroutine[Any, Any, Landing]]"
    write: Callable[[], Coroutine[Any, Any, str]]
    """Lets the agent write the message."""


class Land(Working["Landing | str"]):
    """Enter lands, once the preview is there and nothing speaks against it.

    Returns what landed, or the key of a way out that was chosen instead.

    Args:
        name: The worktree's.
        draft: The input of the last time.
        work: What it can do.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+g", "write", "Write it for me", priority=True, show=False),
        Binding("i", "ignore_check", show=False),
        Binding("enter", "land", show=False),
        *(Binding(key, f"way_out('{key}')", show=False) for key in ("c", "d", "f", "m")),
    ]

    def __init__(self, name: str, draft: LandDraft, work: LandWork) -> None:
        super().__init__(f"Land {clean_line(name)}")
        self._draft = draft
        self._work_on = work
        self.preview: LandingPreview | None = None
        """What would happen, as far as it was computed."""
        self._suggested = ""
        """The message of the preview that is in the box."""
        self._ignores_check = False
        self._is_landing = False

    def body(self) -> list[Widget]:
        """What would happen, the choices, the message, and the keys."""
        return [
            Static(id="land-what", markup=False, classes="words"),
            PickField("Method", METHODS[0], self._pick_method, steps=METHODS, id="land-method"),
            PickField("Afterwards", AFTERWARDS[0], self._pick_after, steps=AFTERWARDS, id="after"),
            MessageArea(id="message", placeholder="Commit message", can_submit_empty=True),
            self.status(),
            Static(id="land-keys", classes="keys"),
        ]

    def on_mount(self) -> None:
        """Compute what would happen."""
        self._show()
        self._load(None)

    def _pick_method(self, present: str, typed: str) -> Pick:
        return Pick("Method", METHODS, present, typed=typed)

    def _pick_after(self, present: str, typed: str) -> Pick:
        return Pick("Afterwards", AFTERWARDS, present, typed=typed)

    # The preview --------------------------------------------------------------------------------

    def _load(self, method: "MergeMethod | None") -> None:
        # A function, because a coroutine that is canceled before it began is reported.
        read = cast("WorkType[None]", partial(self._read, method))
        self.run_worker(read, group="preview", exclusive=True, exit_on_error=False)

    async def _read(self, method: "MergeMethod | None") -> None:
        is_first = self.preview is None
        try:
            preview = await self._work_on.preview(method)
        except SpinneyError as error:
            self.query_one("#land-what", Static).display = not is_first
            self.say(error.message, bad=True)
            return
        self.preview = preview
        self._field("land-method").set_choice(_find(METHODS, preview.method))
        if is_first:
            self._field("after").set_choice(_find(AFTERWARDS, preview.after))
        self._suggest(preview.message)
        self._show()
        if is_first and not self.is_refused:
            self.query_one("#message" if preview.method != "rebase" else "#after").focus()

    def _suggest(self, message: str) -> None:
        """Put a message into the box, unless the user wrote another one."""
        area = self.query_one("#message", MessageArea)
        if not self._suggested and self._draft.message:
            area.text = self._draft.message
        elif area.text.strip() in ("", self._suggested.strip()):
            area.text = message
        self._suggested = message
        area.move_cursor(area.document.end)

    @property
    def is_refused(self) -> bool:
        """Whether something speaks against it, other than a check that is to be ignored."""
        return self.preview is not None and bool(self.preview.problem) and not self._ignores_check

    def _show(self) -> None:
        preview = self.preview
        what = Content("Loading …") if preview is None else describe_preview(preview)
        self.query_one("#land-what", Static).update(what)
        has_form = preview is not None and not self.is_refused
        self._field("land-method").display = preview is not None
        self._field("after").display = has_form
        self.set_class(not has_form, "refused")
        has_message = has_form and preview is not None and preview.method != "rebase"
        self.query_one("#message").display = has_message
        if self.is_refused and preview is not None:
            self.say(clean_line(preview.problem), bad=True)
            self.set_focus(None)  # a field would take the letters of the ways out
        elif not self.is_busy:
            self.say("")
        self.query_one("#land-keys", Static).update(self._keys(has_message=has_message))

    def _keys(self, *, has_message: bool) -> Content:
        if self.preview is None:
            return keys_line(("esc", "cancel"))
        if self.is_refused:
            return keys_line(*list_ways_out(self.preview), ("tab", "method"), ("esc", "close"))
        first = [("enter", "land"), ("tab", "field"), ("← →", "choose")]
        if not has_message:
            return keys_line(*first, ("esc", "cancel"))
        second = [("^j", "line"), ("^g", "write with agent"), ("esc", "cancel")]
        return Content("\n").join([keys_line(*first), keys_line(*second)])

    # Choosing and landing -----------------------------------------------------------------------

    def _field(self, name: str) -> PickField:
        return self.query_one(f"#{name}", PickField)

    @on(PickField.Changed)
    def _changed(self, event: PickField.Changed) -> None:
        event.stop()
        if event.field.id == "land-method":
            self._load(cast("MergeMethod", event.field.choice.value))

    @on(MessageArea.Changed)
    def _keep(self) -> None:
        text = self._message
        self._draft.message = "" if text == self._suggested.strip() else text

    @property
    def _message(self) -> str:
        return self.query_one("#message", MessageArea).draft.text_to_send().strip()

    @on(MessageArea.Submitted)
    @on(PickField.Submitted)
    def _submitted(self, event: MessageArea.Submitted | PickField.Submitted) -> None:
        event.stop()
        self.action_land()

    def action_land(self) -> None:
        """Land, unless something speaks against it or is still being computed."""
        preview = self.preview
        if preview is None or self.is_refused or self.is_busy:
            return
        method = cast("MergeMethod", self._field("land-method").choice.value)
        if method != preview.method:
            self.say("Reading what this method would do …")
            return
        if method != "rebase" and not self._message:
            self.say("Enter a commit message, or let the agent write one (ctrl+g).")
            return
        after, deletes_remote = read_after(self._field("after").choice.value)
        wish = LandWish(
            preview.base_commit,
            method,
            None if method == "rebase" else self._message,
            after,
            deletes_remote,
            self._ignores_check,
        )
        self.is_busy = self._is_landing = True
        self.say("Landing …")
        self.run_worker(self._land(wish), exit_on_error=False)

    async def _land(self, wish: LandWish) -> None:
        await self.run_work(self._work_on.land(wish))
        self._is_landing = False

    def action_leave(self) -> None:
        """Close; not while it lands, which takes a moment and cannot be stopped half-way."""
        if not self._is_landing:
            self.dismiss(None)

    def action_write(self) -> None:
        """Let the agent write the message."""
        if self.preview is not None and self.query_one("#message").display:
            self.work("Writing a message …", self._fill_in())

    async def _fill_in(self) -> None:
        message = await self._work_on.write()
        area = self.query_one("#message", MessageArea)
        area.text = message
        area.move_cursor(area.document.end)
        self.say("")

    # Where it is refused ------------------------------------------------------------------------

    def action_way_out(self, key: str) -> None:
        """Close with one of the next steps that are offered instead."""
        preview = self.preview
        if preview is None or not self.is_refused or self.is_busy:
            return
        if any(key == known for known, _ in list_ways_out(preview)):
            self.dismiss(key)

    def action_ignore_check(self) -> None:
        """Offer to land although the check did not pass."""
        preview = self.preview
        if preview is None or not self.is_refused:
            return
        if any(key == "i" for key, _ in list_ways_out(preview)):
            self._ignores_check = True
            self._show()
            self.query_one("#message" if preview.method != "rebase" else "#after").focus()


def _find(choices: "tuple[Choice, ...]", value: str) -> Choice:
    return next((choice for choice in choices if choice.value == value), choices[0])
