"""The dialog that lands a worktree: what would happen, how, and the message; or why it cannot."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events, on
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
    stash_base: bool


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

    What is typed before the preview is there goes into the message. Where landing is refused, a
    letter takes a way out only if it comes alone; a word is a message, which is kept.

    Returns what landed, or the key of a way out that was chosen instead.

    Args:
        name: The worktree's.
        draft: The input of the last time.
        work: What it can do.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+g", "write", "Write it for me", priority=True, show=False),
        Binding("ctrl+t", "train", priority=True, show=False),
        Binding("enter", "land", show=False),
    ]
    ALONE: ClassVar[float] = 0.3
    """Seconds without another key, before it and after, by which a letter is no part of a word."""

    def __init__(self, name: str, draft: LandDraft, work: LandWork) -> None:
        super().__init__(f"Land {clean_line(name)}")
        self._draft = draft
        self._kept = draft.message
        self._work_on = work
        self.preview: LandingPreview | None = None
        """What would happen, as far as it was computed."""
        self._suggested = ""
        """The message of the preview that is in the box."""
        self._ignores_check = False
        self._stashes_base = False
        self._is_landing = False
        self._last_key = -inf
        """When a key was last pressed, on the clock of events."""
        self._letter = ""
        """A letter of a way out, until it is known that no other key follows."""

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
        """Compute what would happen; what is typed until then is the message."""
        self._area.text = self._kept
        self._area.move_cursor(self._area.document.end)
        self._show()
        self.set_focus(self._area)
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
            self._area.display = not is_first or bool(self._message)
            self.say(error.message, bad=True)
            return
        self.preview = preview
        self._field("land-method").set_choice(_find(METHODS, preview.method))
        if is_first:
            self._field("after").set_choice(_find(AFTERWARDS, preview.after))
        has_typed = is_first and self._message != self._kept.strip()
        self._suggest(preview.message, is_first=is_first)
        if self.is_refused and not has_typed and is_first:
            self.set_focus(None)
        self._show()
        if is_first and not self.is_refused:
            self._focus_form(preview)

    def _focus_form(self, preview: "LandingPreview") -> None:
        self.query_one("#message" if preview.method != "rebase" else "#after").focus()

    def _suggest(self, message: str, *, is_first: bool) -> None:
        """Put a message into the box, unless the user wrote another one.

        The first one comes before what was typed while it was being read.
        """
        area = self._area
        if is_first and not self._kept:
            area.text = f"{message}{area.text}"
        elif not self._is_own:
            area.text = message
        self._suggested = message
        area.move_cursor(area.document.end)

    @property
    def is_refused(self) -> bool:
        """Whether something speaks against it, other than what is to be passed over."""
        is_passed_over = self._ignores_check or self._stashes_base
        return self.preview is not None and bool(self.preview.problem) and not is_passed_over

    def _show(self) -> None:
        preview = self.preview
        what = Content("Loading …") if preview is None else describe_preview(preview)
        self.query_one("#land-what", Static).update(what)
        has_form = preview is not None and not self.is_refused
        self._field("land-method").display = preview is not None
        self._field("after").display = has_form
        self.set_class(not has_form, "refused")
        is_rebase = preview is not None and preview.method == "rebase"
        self._area.display = not is_rebase and (not self.is_refused or self._is_own)
        if self.is_refused and preview is not None:
            self.say(clean_line(preview.problem), bad=True)
            if self.focused is not self._area:
                self.set_focus(None)  # a field would take the letters of the ways out
        elif not self.is_busy:
            self.say("")
        self._show_keys()

    def _show_keys(self) -> None:
        self.query_one("#land-keys", Static).update(self._keys(has_message=self._area.display))

    def on_descendant_focus(self) -> None:
        """Show the keys of the message while it is written where landing is refused."""
        self._show_keys()

    def _keys(self, *, has_message: bool) -> Content:
        if self.preview is None:
            return keys_line(("esc", "cancel"))
        if self.is_refused and self.focused is self._area:
            return keys_line(("^j", "line"), ("esc", "keep the message, and choose"))
        if self.is_refused:
            return keys_line(*list_ways_out(self.preview), ("tab", "method"), ("esc", "close"))
        first = [("enter", "land"), ("tab", "field"), ("← →", "choose")]
        if self.preview.offers_train:
            first.append(("^t", "check it as a train"))
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
    def _area(self) -> MessageArea:
        return self.query_one("#message", MessageArea)

    @property
    def _message(self) -> str:
        return self._area.draft.text_to_send().strip()

    @property
    def _is_own(self) -> bool:
        """Whether the user wrote the message in the box."""
        return self._message not in ("", self._suggested.strip())

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
            self._stashes_base,
        )
        self.is_busy = self._is_landing = True
        self.say("Landing …")
        self.run_worker(self._land(wish), exit_on_error=False)

    async def _land(self, wish: LandWish) -> None:
        await self.run_work(self._work_on.land(wish))
        self._is_landing = False

    def action_leave(self) -> None:
        """Close; not while it lands, which takes a moment and cannot be stopped half-way.

        From a message that is written where landing is refused, go back to the ways out.
        """
        if self.is_refused and self.focused is self._area:
            self.set_focus(None)
            self._show()
        elif not self._is_landing:
            self.dismiss(None)

    def action_train(self) -> None:
        """Check what the base would become, in a train of this worktree alone."""
        if self.preview is not None and self.preview.offers_train and not self.is_busy:
            self.dismiss("t")

    def action_write(self) -> None:
        """Let the agent write the message."""
        if self.preview is not None and self._area.display:
            self.work("Writing a message …", self._fill_in())

    async def _fill_in(self) -> None:
        message = await self._work_on.write()
        self._area.text = message
        self._area.move_cursor(self._area.document.end)
        self.say("")

    # Where it is refused ------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Take a way out by its letter if no other key comes with it: else it is a word."""
        is_quiet = event.time - self._last_key >= self.ALONE
        self._last_key = event.time
        preview, letter = self.preview, event.character if event.is_printable else None
        if preview is None or not self.is_refused or self.is_busy or self.focused is not None:
            return
        if letter is None:
            self._write_down("")
        elif is_quiet and letter in dict(list_ways_out(preview)):
            event.stop()
            self._letter = letter
            if self.ALONE:
                self.set_timer(self.ALONE, self._take_way_out)
            else:
                self._take_way_out()
        else:
            event.stop()
            self._write_down(letter)

    def _write_down(self, letter: str) -> None:
        """Write letters that are no command into the message, which is kept."""
        text, self._letter = f"{self._letter}{letter}", ""
        if text and self.preview is not None and self.preview.method != "rebase":
            self._area.insert(text)
            self._area.display = True
            self.set_focus(self._area)
            self._show()

    def _take_way_out(self) -> None:
        letter, self._letter = self._letter, ""
        preview = self.preview
        if not letter or preview is None or not self.is_refused:
            return
        if letter not in ("i", "s"):
            self.dismiss(letter)
            return
        # Offer to land although the check did not pass, or with changes stashed for it.
        self._ignores_check, self._stashes_base = letter == "i", letter == "s"
        self._show()
        self._focus_form(preview)


def _find(choices: "tuple[Choice, ...]", value: str) -> Choice:
    return next((choice for choice in choices if choice.value == value), choices[0])
