"""The right side: a conversation with its title, request, message box and status.

The transcript is made when the first conversation opens: what draws it is not needed, and not
imported, before the first frame.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.composer.completion import Completion
from tui.composer.draft import Draft
from tui.composer.slash_commands import is_order, order
from tui.composer.widget import Composer
from tui.widgets.queue import Queue
from tui.widgets.request_panel import HELD, RequestPanel
from tui.widgets.session_tabs import SessionTabs
from tui.widgets.status_line import StatusLine
from tui.widgets.welcome import Step, Welcome

_WAITS_FOR_SETUP: Final = (
    "Waiting for the setup script. “Send the queued messages now” in the palette sends it anyway."
)

if TYPE_CHECKING:
    from model.agents.catalog import Catalog
    from model.domain.resources import Request, Session, Worktree
    from model.state import State
    from tui.composer.draft_store import Drafts
    from tui.draw.colors import Palette
    from tui.store.history import History
    from tui.store.mirror import Change
    from tui.transcript.widget import Transcript


REST: Final = 0.3
"""Seconds of writing that a crash may take."""


class Chat(Vertical):
    """One conversation, or the next step towards one."""

    class Shown(Message):
        """The first frame stands, and all panes are mounted."""

    class MessageSent(Message):
        """A message was written; `key` is the draft it came from."""

        def __init__(self, key: str, text: str, images: tuple[str, ...] = ()) -> None:
            super().__init__()
            self.key = key
            self.text = text
            self.images = images

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.key = ""
        """What the message box writes to: a session's or a worktree's id, or nothing."""
        self.session_id: str | None = None
        self.transcript: Transcript | None = None
        self.is_complete = False
        """Whether all panes are there."""
        self.drafts: Drafts
        """Given with the client, before there is anything to write to."""
        self._is_shown = False
        self._project_id = ""
        self._keeping: Timer | None = None
        self._is_told = False
        self._setup_hold: str | None = None
        """Why the first message of the open session waits for its worktree."""
        self.reviewing = ""
        """The plan that was set aside and is shown again, by its request's id."""
        self._written_for: dict[str, str | None] = {}
        """What drafts that are not shown were begun for, by session or worktree."""

    def compose(self) -> ComposeResult:
        """The first frame's part; the rest is mounted after it."""
        yield Welcome(id="welcome")

    async def _complete(self) -> None:
        """Mount everything but the transcript."""
        request = RequestPanel(id="request")
        request.add_class("hidden")
        composer = Composer(id="composer")
        request.connect(composer)
        composer.is_order = is_order
        composer.take_back = self._take_back
        composer.unsent = self._unsent
        composer.to_newest = self._to_newest
        waiting = Queue(id="queue")
        await self.mount(SessionTabs(id="tabs"), before=self.welcome)
        recap = Static(id="recap", classes="hidden", markup=False)
        completion = Completion(composer, id="completion")
        composer.completion = completion.press
        await self.mount(recap, request, waiting, completion, composer, StatusLine(id="status"))
        self.is_complete = True
        self.post_message(self.Shown())

    @property
    def composer(self) -> Composer:
        """The message box."""
        return self.query_one("#composer", Composer)

    @property
    def request(self) -> RequestPanel:
        """The panel that asks."""
        return self.query_one("#request", RequestPanel)

    @property
    def queue(self) -> Queue:
        """The messages that wait behind the run."""
        return self.query_one("#queue", Queue)

    @property
    def completion(self) -> Completion:
        """The list of what the word that is being written may become."""
        return self.query_one("#completion", Completion)

    @property
    def welcome(self) -> Welcome:
        """What stands there while there is no conversation."""
        return self.query_one("#welcome", Welcome)

    @property
    def status(self) -> StatusLine:
        """The line at the bottom."""
        return self.query_one("#status", StatusLine)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show that the keys are here where no text cursor does: in what is read."""
        self.set_class(event.widget in (self.transcript, self.welcome), "reading")

    def on_descendant_blur(self) -> None:
        """The keys went elsewhere."""
        self.remove_class("reading")

    def on_mount(self) -> None:
        """There is no conversation yet."""
        self.add_class("no-session", "no-draft")

    def follow_first_frame(self) -> None:
        """Mount the rest once the first frame stands; later calls do nothing."""
        if not self._is_shown:
            self._is_shown = True
            self.call_after_refresh(self._complete)

    # Opening ------------------------------------------------------------------------------------

    def open_step(self, step: Step, *, key: str = "", project_id: str = "") -> None:
        """Show a step instead of a conversation; `key`: what the message box would begin."""
        self.session_id = None
        self.add_class("no-session")
        self._ask("", None)
        self.status.follow(None)
        self.welcome.show(step)
        self._write_to(key, project_id, "")

    def open_session(self, session: "Session", project_id: str) -> None:
        """Make room for a conversation; `show` fills it."""
        self.session_id = session.id
        self.remove_class("no-session", "no-draft")  # at once: each change styles all panes anew
        request = session.request if session.status == "waiting" else None
        self._write_to(session.id, project_id, request.id if request is not None else "")

    def _write_to(self, key: str, project_id: str, subject: str) -> None:
        if key == self.key:
            return
        self.keep_draft()
        self._written_for[self.key] = self.composer.written_for
        self.key, self._project_id = key, project_id
        self.set_class(not key, "no-draft")
        if key:
            self.completion.forget()
            draft, earlier = self.drafts.of(key), self.drafts.earlier(project_id)
            written_for = self._written_for.pop(key, subject) if draft else subject
            self.composer.begin(draft, earlier, written_for)

    def show(
        self,
        history: "History",
        palette: "Palette",
        catalog: "Catalog",
        session: "Session",
        root: str,
    ) -> None:
        """Show a conversation's messages."""
        self.made_transcript().show(history, palette, session, root=root, catalog=catalog)

    def made_transcript(self) -> "Transcript":
        """What shows messages; made when it is needed, or before, where there is time."""
        if self.transcript is None:
            from tui.transcript.widget import Transcript

            self.transcript = Transcript(id="transcript")
            self.mount(self.transcript, after=self.welcome)
        return self.transcript

    # Following ----------------------------------------------------------------------------------

    def follow(self, state: "State", labels: tuple[str, str], scripts_key: str) -> None:
        """Show the open session's request, status and tabs as they are."""
        session = state.sessions.get(self.session_id or "")
        worktree_id = session.worktree_id if session is not None else self.key
        self.query_one("#tabs", SessionTabs).follow(state.sessions_of(worktree_id), self.session_id)
        waiting = state.queued.get(session.id, ()) if session is not None else ()
        self._setup_hold = _hold_of(state, session)
        offer = "send anyway" if self._setup_hold else "send now"
        self.queue.follow(waiting, "" if session is None or session.is_active else offer)
        if session is None:
            return
        streaming = state.streaming_in(session.id)
        worktree = state.worktrees.get(session.worktree_id)
        request = session.request if session.status == "waiting" else None
        aside = session.set_aside_plan
        if request is None and aside is not None and aside.id == self.reviewing:
            request = aside if not session.is_active else None
        self._ask(session.id, request)
        hold = self._setup_hold if self.queue.messages else None
        note = _note(session, worktree, hold, scripts_key)
        recap = self.query_one("#recap", Static)
        recap.set_class(not note, "hidden")
        recap.update(note)
        self.status.follow(
            session,
            labels=labels,
            queued=len(state.queued.get(session.id, ())),
            started=streaming.timestamp if streaming is not None else None,
            is_set_up=worktree is None or worktree.running_scripts != ["setup"],
            hold=self._setup_hold,
            is_reviewed=request is not None and request is aside,
        )
        self._prompt(session, labels[0])

    def _ask(self, session_id: str, request: "Request | None") -> None:
        had_focus = self.request.has_focus
        self.request.ask(session_id, request)
        if request is None and had_focus:
            self.composer.focus()

    def _prompt(self, session: "Session", agent: str) -> None:
        match session.status, session.waiting_for:
            case "running", _:
                text = "Queue a message…"
            case "waiting", "plan":
                text = "Approve above, or say what should change"
            case "waiting", "question":
                text = "Answer above, or in your own words"
            case "waiting", "permission":
                text = "Allow or deny above, or tell the agent what to do instead"
            case _ if self.request.request is not None:
                text = "Approve above, or say what should change"
            case _ if self.queue.messages and self._setup_hold == "running":
                text = "Write another message; they go when the setup is done"
            case _ if self.queue.messages and self._setup_hold == "failed":
                text = "Enter sends what waits all the same, or write another message"
            case _ if self.queue.messages:
                text = "Enter sends what is queued, or write another message"
            case _:
                text = f"Message {clean_line(agent) or 'the agent'}"
        shown = Content(text)  # a text alone would be read as markup
        if self.composer.placeholder != shown:
            self.composer.placeholder = shown

    def tell(self, change: "Change") -> None:
        """Pass on what happened in the open conversation."""
        from model.domain.events import RunNoticed

        if self.session_id is None:
            return
        events = change.events_of(self.session_id)
        if events:
            last = events[-1]
            self.status.heard(last.text if isinstance(last, RunNoticed) else "")
        if self.transcript is None:
            return
        if self.session_id in change.messages:
            self.transcript.changed(change.messages[self.session_id])
        session = change.state.sessions.get(self.session_id)
        if session is not None and self.session_id in change.sessions:
            self.transcript.set_session(session)

    # Writing ------------------------------------------------------------------------------------

    def on_message_area_submitted(self, event: Composer.Submitted) -> None:
        """Hand the message on, unless it answers what is asked."""
        event.stop()
        text, images = event.text, event.images
        if event.written_for != self.request.subject:  # it changed since enter was pressed
            self.composer.rewrite(Draft.of(text, images).before(self.composer.draft))
            self._hold()
            return
        if self.transcript is not None:
            # Whoever speaks wants to see the answer, wherever they had scrolled to.
            self.transcript.action_scroll_end()
        self.drafts.sent(self._project_id, text)
        if not self.request.say(text, images):
            self.drafts.hand_over(self.key, Draft.of(text, images))
            self.post_message(self.MessageSent(self.key, text, images))

    @on(Composer.Held)
    def _held(self, event: Composer.Held) -> None:
        """The words stay in the box."""
        event.stop()
        self._hold()

    def _hold(self) -> None:
        """Say what the words would be sent to now; another enter sends them."""
        asked = self.request.request
        self.composer.written_for = self.request.subject
        self.request.rearm()
        gone = "What you were answering is gone. Press enter again to send this as a message."
        self.notify(HELD if asked is not None else gone, severity="warning", markup=False)

    @on(Composer.NothingWritten)
    def _send_queued(self, event: Composer.NothingWritten) -> None:
        """Enter on an empty box sends what waits where nothing runs any more."""
        event.stop()
        if self.queue.is_stopped and self._setup_hold == "running":
            self.notify(_WAITS_FOR_SETUP, markup=False)
        elif self.queue.is_stopped:
            self.call_later(self.screen.run_action, "do('send_queued')")

    @on(RequestPanel.Dropped)
    def _words_dropped(self, event: RequestPanel.Dropped) -> None:
        """What was written for questions that are gone is a draft again."""
        event.stop()
        self.give_back(event.session_id, "\n".join(event.words))

    @on(Queue.Typed)
    @on(RequestPanel.Typed)
    def _typed_beside(self, event: Queue.Typed | RequestPanel.Typed) -> None:
        """A letter that does nothing belongs to the message box."""
        event.stop()
        self.composer.focus()
        self.composer.write(event.character)

    def _take_back(self) -> bool:
        if not self.queue.messages:
            return False
        self.call_later(self.screen.run_action, "do('take_back')")
        return True

    def _to_newest(self) -> bool:
        if self.transcript is None:
            return False
        self.transcript.action_scroll_end()
        return True

    def _unsent(self) -> list[str]:
        waiting = [message.text for message in self.queue.messages]
        return [*waiting, *self.drafts.on_their_way(self.key)]

    @on(Composer.Emptied)
    def _emptied(self, event: Composer.Emptied) -> None:
        """What was removed without being sent can be brought back, as what was sent."""
        event.stop()
        self.remember(event.text)

    def remember(self, text: str) -> None:
        """Have this text among the earlier messages, from which the box brings it back."""
        if text.strip() and text not in self.drafts.earlier(self._project_id):
            self.drafts.sent(self._project_id, text)
            self.keep_draft()

    @on(Composer.Ordered)
    def _ordered(self, event: Composer.Ordered) -> None:
        """Do what a command of Spinney's own says; what it does not take is not lost."""
        event.stop()
        action, problem = order(event.line)
        if problem:
            self.composer.draft = Draft(event.line)
            self.notify(problem, severity="warning", markup=False)
        else:
            self.call_later(self.screen.run_action, f"do('{action}')")

    def hand_over(self, key: str, text: str) -> None:
        """A message that was not written here is on its way; a crash leaves it in this draft."""
        if text:
            self.drafts.hand_over(key, Draft.of(text))
            self.keep_draft()

    def arrived(self, key: str, text: str, images: tuple[str, ...] = ()) -> None:
        """A message was accepted: it is no draft any more."""
        self.drafts.settle(key, Draft.of(text, images))
        self.keep_draft()

    def give_back(self, key: str, text: str, images: Iterable[str] = (), *, to: str = "") -> None:
        """Put a message back into its draft, before what was written since.

        `to`: the session that was begun for it meanwhile.
        """
        draft = Draft.of(text, images)
        if not draft:
            return
        self.drafts.settle(key, draft)
        self.request.reopen(key)
        key = to or key
        if key == self.key:
            self.composer.rewrite(draft.before(self.composer.draft))
        else:
            self.drafts.keep(key, draft.before(self.drafts.of(key)))
        self.keep_draft()

    @on(Composer.Changed, "#composer")
    def _written(self) -> None:
        """Keep the draft as soon as the hand rests."""
        self.request.follow_box(bool(self.composer.text.strip()))
        if self._keeping is None:
            self._keeping = self.set_timer(REST, self.keep_draft)

    @on(Composer.SelectionChanged, "#composer")
    def _cursor_moved(self) -> None:
        """Show what the word at the cursor may become."""
        self.completion.follow()

    def keep_draft(self) -> None:
        """Have written what is new."""
        self.note_draft()
        if self.drafts.has_news:
            self.run_worker(self._flush(), group="drafts", exit_on_error=False)

    def note_draft(self) -> None:
        """Take down what stands in the message box."""
        if self._keeping is not None:
            self._keeping.stop()
            self._keeping = None
        if self.key:
            self.drafts.keep(self.key, self.composer.draft)

    def put_down(self) -> None:
        """Have everything written, now: there is no later."""
        self.note_draft()
        with suppress(SpinneyError):
            self.drafts.flush()

    async def _flush(self) -> None:
        try:
            await asyncio.to_thread(self.drafts.flush)
        except SpinneyError as error:
            # Once: it would be said for every word.
            if not self._is_told:
                self.notify(error.message, severity="warning", markup=False)
            self._is_told = True

    def on_transcript_typed(self, event: "Transcript.Typed") -> None:
        """Letters belong to the message box."""
        event.stop()
        self.composer.focus()
        self.composer.write(event.character)

    def on_transcript_copy_wanted(self, event: "Transcript.CopyWanted") -> None:
        """Copy a part of a message."""
        event.stop()
        self.app.copy_to_clipboard(event.text)


def _hold_of(state: "State", session: "Session | None") -> str | None:
    """Why the first message of the session waits for its worktree, if it does."""
    is_held = session is not None and state.is_held(session)
    return state.worktrees[session.worktree_id].setup_hold if session and is_held else None


def _note(
    session: "Session", worktree: "Worktree | None", hold: str | None, scripts_key: str
) -> Content:
    """What stands between a conversation and the message box; `hold`: what a message waits for."""
    if worktree is not None and worktree.status == "missing":
        gone = f"The directory is gone: {clean_line(worktree.path)}. "
        if worktree.session_type == "base":
            return Content.assemble((gone, "$error"), "Put it back where it was.")
        helps = "/recreate checks its branch out again, /archive puts the worktree away."
        return Content.assemble((gone, "$error"), helps)
    if hold == "failed":
        failed = "The setup script did not end well, so your message waits. "
        return Content.assemble((failed, "$error"), f"{scripts_key} shows what it printed.")
    if hold == "running":
        return Content(f"Your message goes to the agent after the setup; {scripts_key} shows it.")
    return Content(f"While you were away: {session.recap}" if session.recap else "")
