"""The chat on the right: a conversation with its tabs, request, message box and status.

Only the next step is in the first frame: importing what the other panes need would delay it. The
transcript is created when the first conversation opens.
"""

import time
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tui.composer.draft import Draft
from tui.widgets.chat_drafts import ChatDrafts
from tui.widgets.chat_texts import (
    WAITING_FOR_SETUP,
    find_setup_hold,
    held_notice,
    placeholder,
    render_note,
)
from tui.widgets.welcome import Step, Welcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.widgets import TextArea

    from model.agents.catalog import Catalog
    from model.domain.requests import Request
    from model.domain.sessions import Session
    from model.state import State
    from tui.composer.widget import Composer
    from tui.draw.colors import Palette
    from tui.store.history import History
    from tui.store.mirror import Change
    from tui.transcript.widget import Transcript
    from tui.widgets.queue import Queue
    from tui.widgets.request_panel import RequestPanel
    from tui.widgets.session_tabs import SessionTabs


class Chat(ChatDrafts):
    """A conversation, or the next step towards one."""

    tabs: "SessionTabs"
    """The worktree's sessions. Like the other panes, it is set when the chat is complete."""
    recap: Static
    queue: "Queue"

    class Ready(Message):
        """The first frame was drawn, and all panes are mounted."""

    class MessageSent(Message):
        """A message was submitted from the draft `key`."""

        def __init__(
            self, key: str, text: str, images: tuple[str, ...] = (), *, steers: bool = False
        ) -> None:
            super().__init__()
            self.key = key
            self.text = text
            self.images = images
            self.steers = steers
            """Whether it is to be read during the running turn."""

    class CommandGiven(Message):
        """A command of Spinney, or `!` with a command of the shell, was entered.

        `line` is what was written in the draft `key`.
        """

        def __init__(self, key: str, line: str, name: str, argument: str) -> None:
            super().__init__()
            self.key = key
            self.line = line
            self.name = name
            self.argument = argument

    def __init__(self, *, moves: bool = False, id: str | None = None) -> None:
        """`moves`: whether spinners turn."""
        super().__init__(id=id)
        self._moves = moves
        self.session_id: str | None = None
        self.transcript: Transcript | None = None
        self.is_complete = False
        """Whether all panes are mounted."""
        self._setup_hold: str | None = None
        """Why the first message of the open session waits for its worktree."""
        self._is_paused = False
        self.first_position: tuple[str, str, int] | None = None
        """Session, message and row at which the last run ended."""
        self.reviewing = ""
        """The request id of the plan that was set aside and is shown again."""

    def compose(self) -> ComposeResult:
        """Compose the part for the first frame; the rest is mounted after it."""
        yield Welcome(id="welcome")

    async def _complete(self) -> None:
        """Mount everything but the transcript."""
        from tui.composer.completion import Completion
        from tui.composer.slash_commands import is_slash_command, suggest_command
        from tui.composer.widget import Composer
        from tui.widgets.queue import Queue
        from tui.widgets.request_panel import RequestPanel
        from tui.widgets.session_tabs import SessionTabs
        from tui.widgets.status_line import StatusLine

        self.tabs = SessionTabs(id="tabs", moves=self._moves)
        self.recap = Static(id="recap", markup=False)
        self.request = RequestPanel(id="request")
        self.request.add_class("hidden", update=False)
        self.queue = Queue(id="queue")
        self.composer = composer = Composer(id="composer")
        self.completion = Completion(composer, id="completion")
        self.status = StatusLine(id="status")
        self.request.connect(composer)
        composer.is_of_conversation = True
        composer.is_command = is_slash_command
        composer.suggest_command = lambda text: suggest_command(
            text, self.completion.agent_commands
        )
        composer.take_back = self._take_back
        composer.unsent_texts = self._unsent_texts
        composer.scroll_to_end = self._scroll_to_end
        composer.completion = self.completion.press
        self.tabs.display = self.recap.display = False
        self._show_panes()
        mounted = self.mount(self.tabs, before=self.welcome)
        await self.mount(
            self.recap, self.request, self.queue, self.completion, composer, self.status
        )
        await mounted
        self.is_complete = True
        self.post_message(self.Ready())

    @property
    def welcome(self) -> Welcome:
        """The placeholder while there is no conversation."""
        return self.query_one("#welcome", Welcome)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Mark the focus in panes without a text cursor."""
        self._mark_tabs(event.widget in (self.transcript, self.welcome))

    def on_descendant_blur(self) -> None:
        """Remove the focus mark."""
        self._mark_tabs(False)

    def _mark_tabs(self, has_focus: bool) -> None:
        if self.is_complete:
            self.tabs.set_class(has_focus, "reading")

    def complete_later(self) -> None:
        """Mount the rest; called once, with the first frame."""
        self.call_later(self._complete)

    # Opening ------------------------------------------------------------------------------------

    def open_step(self, step: Step, *, key: str = "", project_id: str = "") -> None:
        """Show a step instead of a conversation; `key` is the draft for the message box."""
        self.session_id = None
        self._show_request("", None)
        self.status.follow(None)
        self.welcome.show(step)
        self._switch_draft(key, project_id, "")
        self._show_panes()

    def open_session(self, session: "Session", project_id: str) -> None:
        """Prepare for a conversation; `show` fills it."""
        self.session_id = session.id
        request = session.request if session.status == "waiting" else None
        self._switch_draft(session.id, project_id, request.id if request is not None else "")
        self._show_panes()

    def _show_panes(self) -> None:
        """Show the panes of a conversation, or the step; `follow` does so for tabs and recap.

        Each has its own style: a class of the chat would restyle all that is in it.
        """
        is_open = self.session_id is not None
        self.welcome.display = not is_open
        self.status.display = is_open
        self.composer.display = bool(self.key)
        if self.transcript is not None:
            self.transcript.display = is_open

    def show(
        self,
        history: "History",
        palette: "Palette",
        catalog: "Catalog",
        session: "Session",
        root: str,
        keys: "Mapping[str, str]",
    ) -> None:
        """Show a conversation's messages; `keys` are those of the change card's actions."""
        transcript = self.ensure_transcript()
        if self.first_position is not None:
            transcript.restore_position(*self.first_position)
            self.first_position = None
        transcript.show(history, palette, session, root=root, catalog=catalog, keys=keys)

    def ensure_transcript(self) -> "Transcript":
        """Return the transcript, creating it if needed."""
        if self.transcript is None:
            from tui.transcript.widget import Transcript

            self.transcript = Transcript(id="transcript")
            self.transcript.display = self.session_id is not None
            self.mount(self.transcript, after=self.welcome)
        return self.transcript

    # Following ----------------------------------------------------------------------------------

    def follow(
        self, state: "State", labels: tuple[str, str], key_of: "Callable[[str], str]"
    ) -> None:
        """Update the open session's request, status and tabs.

        `key_of` returns the keys of an action, as displayed.
        """
        session = state.sessions.get(self.session_id or "")
        worktree_id = session.worktree_id if session is not None else self.key
        sessions = state.sessions_of(worktree_id)
        # The name of the only one is in the top bar.
        self.tabs.display = self.session_id is not None and len(sessions) != 1
        self.tabs.follow(sessions, self.session_id)
        waiting = state.queued.get(session.id, ()) if session is not None else ()
        self._setup_hold = find_setup_hold(state, session)
        self._is_paused = session is not None and session.status == "paused"
        offer = "send anyway" if self._setup_hold else "send now"
        if session is not None and session.status == "paused":
            offer = "continue now"
        can_steer = session is not None and (
            session.status == "running" or session.waiting_for == "permission"
        )
        self.queue.follow(
            waiting, "" if session is None or session.is_active else offer, can_steer=can_steer
        )
        if session is None:
            self.recap.display = False
            return
        streaming = state.streaming_in(session.id)
        worktree = state.worktrees.get(session.worktree_id)
        request = session.request if session.status == "waiting" else None
        aside = session.set_aside_plan
        if request is None and aside is not None and aside.id == self.reviewing:
            request = aside if not session.is_active else None
        self._show_request(session.id, request)
        hold = self._setup_hold if self.queue.messages else None
        note = render_note(session, worktree, hold, key_of("show_scripts"), time.time())
        self.recap.display = bool(note)
        if str(note) != str(self.recap.content):  # an update lays the whole screen out
            self.recap.update(note)
        self.status.follow(
            session,
            labels=labels,
            queued=len(state.queued.get(session.id, ())),
            started=streaming.timestamp if streaming is not None else None,
            is_set_up=worktree is None or worktree.running_scripts != ["setup"],
            hold=self._setup_hold,
            is_reviewed=request is not None and request is aside,
        )
        self._update_placeholder(session, labels[0], key_of("send_now"))
        mode = session.execution_mode
        self.composer.update_classes({"mode-plan": mode == "plan", "mode-yolo": mode == "yolo"})

    def _show_request(self, session_id: str, request: "Request | None") -> None:
        had_focus = self.request.has_focus
        self.request.ask(session_id, request)
        if request is None and had_focus:
            self.composer.focus()

    def _update_placeholder(self, session: "Session", agent: str, steer_key: str) -> None:
        text = placeholder(
            session,
            agent,
            steer_key=steer_key,
            is_reviewing=self.request.request is not None,
            has_queue=any(message.send_at is None for message in self.queue.messages),
            hold=self._setup_hold,
        )
        content = Content(text)  # a plain string would be parsed as markup
        if self.composer.placeholder != content:
            self.composer.placeholder = content

    def apply_change(self, change: "Change") -> None:
        """Apply a change to the open conversation."""
        from model.domain.events.messages import RunNoticed

        if self.session_id is None:
            return
        events = change.events_of(self.session_id)
        if events:
            last = events[-1]
            self.status.note_output(last.text if isinstance(last, RunNoticed) else "")
        if self.transcript is None:
            return
        if self.session_id in change.messages:
            self.transcript.update_messages(change.messages[self.session_id])
        session = change.state.sessions.get(self.session_id)
        if session is not None and self.session_id in change.sessions:
            self.transcript.set_session(session)

    # Message box --------------------------------------------------------------------------------

    def on_message_area_submitted(self, event: "Composer.Submitted") -> None:
        """Send the message, or use it as the answer to the current request."""
        from tui.composer.slash_commands import unescape_text

        event.stop()
        text, images = event.text, event.images
        if event.written_for != self.request.subject:  # the request changed since enter was pressed
            self.composer.replace_draft(Draft.from_text(text, images).join(self.composer.draft))
            self._explain_hold()
            return
        if self.transcript is not None:
            # Scroll to the end to show the answer.
            self.transcript.action_scroll_end()
        self.drafts.add_sent(self._project_id, text)
        if not self.request.submit_text(unescape_text(text), images):
            self.drafts.start_sending(self.key, Draft.from_text(text, images))
            self.post_message(self.MessageSent(self.key, text, images, steers=event.steers))

    def on_composer_submission_held(self, event: "Composer.SubmissionHeld") -> None:
        """Keep the text in the box."""
        event.stop()
        self._explain_hold()

    def _explain_hold(self) -> None:
        """Notify what the text would be sent to now; another enter sends it."""
        notice = held_notice(self.request.request)
        self.composer.written_for = self.request.subject
        self.request.rearm()
        self.notify(notice, severity="warning", markup=False)

    def on_composer_empty_submitted(self, event: "Composer.EmptySubmitted") -> None:
        """Send queued messages on enter in an empty box, if no agent is running."""
        event.stop()
        if self._is_paused:
            self.call_later(self.screen.run_action, "do('continue_session')")
        elif self.queue.is_stopped and self._setup_hold == "running":
            self.notify(WAITING_FOR_SETUP, markup=False)
        elif self.queue.is_stopped:
            self.call_later(self.screen.run_action, "do('send_queued')")

    def on_composer_help_wanted(self, event: "Composer.HelpWanted") -> None:
        """Show the help."""
        event.stop()
        self.call_later(self.screen.run_action, "do('help')")

    def on_request_panel_dropped(self, event: "RequestPanel.Dropped") -> None:
        """Return answers to withdrawn questions to the draft."""
        from tui.composer.slash_commands import escape_text

        event.stop()
        self.return_message(event.session_id, escape_text("\n".join(event.words)))

    def on_queue_typed(self, event: "Queue.Typed") -> None:
        """Insert letters without a binding into the message box."""
        self._write(event)

    def on_request_panel_typed(self, event: "RequestPanel.Typed") -> None:
        """Insert letters without a binding into the message box."""
        self._write(event)

    def _take_back(self) -> bool:
        if not self.queue.messages:
            return False
        self.call_later(self.screen.run_action, "do('take_back')")
        return True

    def _scroll_to_end(self) -> bool:
        if self.transcript is None:
            return False
        self.transcript.action_scroll_end()
        return True

    def _unsent_texts(self) -> list[str]:
        from tui.composer.slash_commands import escape_text

        waiting = [escape_text(message.text) for message in self.queue.messages]
        return [*waiting, *self.drafts.sending_texts(self.key)]

    def on_composer_command_entered(self, event: "Composer.CommandEntered") -> None:
        """Run a command of Spinney; an invalid one is put back into the box."""
        from tui.composer.slash_commands import find_problem, split_command

        event.stop()
        name, argument = split_command(event.line) or ("", "")
        if problem := find_problem(name, argument):
            self.composer.draft = Draft(event.line)
            self.notify(problem, severity="warning", markup=False)
            return
        if argument:
            self.drafts.add_sent(self._project_id, event.line)
            self.save_draft()
        self.post_message(self.CommandGiven(self.key, event.line, name, argument))

    def on_composer_shell_entered(self, event: "Composer.ShellEntered") -> None:
        """Run a command in the worktree."""
        event.stop()
        if not event.command:
            self.notify("Write a command after the '!'.", markup=False)
            return
        self.drafts.add_sent(self._project_id, event.line)
        self.save_draft()
        self.post_message(self.CommandGiven(self.key, event.line, "!", event.command))

    def send_text(self, key: str, text: str) -> None:
        """Send a text that was not written in the message box to the draft's session."""
        self.start_sending(key, text)
        self.post_message(self.MessageSent(key, text))

    def on_composer_command_mistyped(self, event: "Composer.CommandMistyped") -> None:
        """Ask whether one of Spinney's commands was meant; the text stays in the box."""
        event.stop()
        self.notify(
            f"There is no such command. Did you mean {event.meant}? "
            "Press enter again to send it to the agent as it is.",
            severity="warning",
            markup=False,
        )

    def on_text_area_selection_changed(self, event: "TextArea.SelectionChanged") -> None:
        """Update the completion list."""
        if event.text_area is self.composer:
            self.completion.follow()

    def on_transcript_typed(self, event: "Transcript.Typed") -> None:
        """Insert typed letters into the message box."""
        self._write(event)

    def _write(self, event: "Queue.Typed | RequestPanel.Typed | Transcript.Typed") -> None:
        event.stop()
        self.composer.focus()
        self.composer.write(event.character)

    def on_transcript_copy_wanted(self, event: "Transcript.CopyWanted") -> None:
        """Copy a part of a message."""
        event.stop()
        self.app.copy_to_clipboard(event.text)
