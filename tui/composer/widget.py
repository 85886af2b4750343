"""The message box of a conversation: earlier messages, completion, commands, attachments."""

import asyncio
from collections.abc import Callable, Container
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from tui.composer.draft import Draft
from tui.composer.dropped_files import find_dropped_files, is_image, mention
from tui.composer.message_area import MessageArea
from tui.keys.keymap import BY_ID
from tui.terminal.input_parser import is_burst

HELP_DELAY: Final = 0.3
"""Seconds without another key after which a lone `?` asks for help instead of beginning a text."""


class Composer(MessageArea):
    """The message box of a conversation, with message history.

    A text is a message by default; it is sent as an answer only to the request that was shown when
    it was begun (`current_request_id`).
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "screen.scroll_chat(-1)", show=False),
        Binding("pagedown", "screen.scroll_chat(1)", show=False),
        # The text area has bindings of its own for these keys.
        *(
            Binding(BY_ID[name].keys, f"screen.do('{name}')", show=False, id=name)
            for name in (
                "external_editor",
                "next_waiting",
                "open_shell",
                "search",
                "search_history",
                "paste_image",
                "send_now",
            )
        ),
    ]

    class Cleared(Message):
        """A text was removed without being sent."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class CommandEntered(Message):
        """A command of Spinney was entered, such as `/model`."""

        def __init__(self, line: str) -> None:
            super().__init__()
            self.line = line

    class ShellEntered(Message):
        """Enter was pressed on `!command`; the box is empty."""

        def __init__(self, line: str) -> None:
            super().__init__()
            self.line = line
            self.command = line[1:].strip()

    class CommandMistyped(Message):
        """Enter was pressed on what is probably a mistyped command of Spinney; it stays."""

        def __init__(self, meant: str) -> None:
            super().__init__()
            self.meant = meant

    class SubmissionHeld(Message):
        """Enter was pressed on a text written before the current request; it stays in the box."""

    class EmptySubmitted(Message):
        """Enter was pressed on an empty box."""

    class HelpWanted(Message):
        """`?` was typed into an empty box, and nothing after it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.offer: Callable[[events.Key, bool], bool] = lambda event, is_empty: False
        """Offers each key, and whether the box is empty; returns whether a request handled it."""
        self.current_request_id: Callable[[], str | None] = lambda: ""
        """Returns the id of the current request, '' without one, or `None` if it appeared too
        recently to have been read."""
        self.on_sending: Callable[[], None] = lambda: None
        """Called immediately when a message is sent: the next key may follow in the same read."""
        self.written_for: str | None = ""
        """The `current_request_id` when the text in the box was begun."""
        self.completion: Callable[[str], bool] = lambda key: False
        """Called for each key; returns whether the completion list handled it."""
        self.take_back: Callable[[], bool] = lambda: False
        """Called for up in an empty box; returns whether a queued message is taken back."""
        self.scroll_to_end: Callable[[], bool] = lambda: False
        """Called for end in an empty box; returns whether the conversation scrolls to its end."""
        self.unsent_texts: Callable[[], Container[str]] = lambda: ()
        """Returns messages that are queued or being sent: recalled, they would be sent twice."""
        self.is_command: Callable[[str], bool] = lambda text: False
        """Whether a text is a command of Spinney."""
        self.suggest_command: Callable[[str], str] = lambda text: ""
        """Returns the command of Spinney that a text was probably meant to be, or ''."""
        self._doubted = ""
        """The text that was taken for a mistyped command; enter sends it now."""
        self.is_of_conversation = False
        """Whether `!` runs commands and `?` opens the help; elsewhere both are text."""
        self.takes_images = True
        """Whether the agent can read files of this machine."""
        self.worktree_root: Callable[[], str] = lambda: ""
        """Returns the path of the worktree, for mentions of its files."""
        self.sent_messages: list[str] = []
        """Messages sent before in this project, oldest first."""
        self._recalled_index: int | None = None
        self._unsent_draft = Draft()

    async def on_key(self, event: events.Key) -> None:
        """Offer keys to a request, and recall earlier messages on the first and last line."""
        self._note_request()
        if event.character == "?" and self.is_of_conversation and not self.text:
            self.set_timer(HELP_DELAY, self._ask_for_help)
        if is_burst(event):
            self.offer(event, False)
        elif (
            self.offer(event, not self.text.strip())  # white space is never sent
            or self.completion(event.key)
            or (event.key == "up" and not self.text and self.take_back())
            or (event.key == "end" and not self.text and self.scroll_to_end())
            or (event.key == "up" and self.cursor_location[0] == 0 and self._recall(-1))
            or (event.key == "down" and self._at_last_line and self._recall(+1))
        ):
            self.finish_key(event)

    async def on_paste(self, event: events.Paste) -> None:
        """Attach images whose paths were pasted or dropped, and mention other files."""
        self._note_request()
        paths = await asyncio.to_thread(find_dropped_files, event.text)
        if not paths or self.is_shell:
            return
        if not self.takes_images:
            self.notify(
                "Files of this machine cannot be attached, because Spinney runs on another one. "
                "The path was pasted as text.",
                markup=False,
            )
            return
        event.stop()
        event.prevent_default()
        start = min(self.selection)
        self.insert_paste(event.text.strip())  # undo restores it
        root = self.worktree_root()
        words = [
            self._chips.add_image(path) if is_image(path) else mention(path, root) for path in paths
        ]
        self.insert_over(f"{' '.join(words)} ", start, self.cursor_location)
        self.history.checkpoint()

    def attach_image(self, path: str) -> None:
        """Insert an image at the cursor."""
        self._note_request()
        self.insert_paste(f"{self._chips.add_image(path)} ")

    def _ask_for_help(self) -> None:
        """Take a lone `?` out of the box again, unless it was the beginning of a text."""
        if self.text == "?" and self.has_focus:
            self.draft = Draft()
            self.post_message(self.HelpWanted())

    @property
    def _at_last_line(self) -> bool:
        return self.cursor_location[0] == self.document.line_count - 1

    def _note_request(self) -> None:
        if not self.text:
            self.written_for = self.current_request_id()

    def write(self, text: str) -> None:
        """Insert text that was typed in another widget."""
        self._note_request()
        self.insert(text)

    def replace_draft(self, draft: Draft) -> None:
        """Replace the content; undo restores it."""
        self._note_request()
        super().replace_draft(draft)

    def empty(self) -> bool:
        """Remove the whole text and add it to the earlier messages."""
        text = self.draft.text_to_send()
        if had_text := super().empty():
            self.post_message(self.Cleared(text))
        return had_text

    @property
    def is_shell(self) -> bool:
        """Whether enter runs the text as a command in the worktree."""
        return self.is_of_conversation and self.document.get_line(0).startswith("!")

    def _submit_shell(self, text: str) -> None:
        if text[1:].strip():
            self._recalled_index = None
            self.draft = Draft()
        self.post_message(self.ShellEntered(text.rstrip()))

    @property
    def earlier_messages(self) -> list[str]:
        """The messages that can be recalled, newest first, each once."""
        unsent_texts = self.unsent_texts()
        texts = dict.fromkeys(reversed(self.sent_messages))
        return [text for text in texts if text not in unsent_texts]

    def recall(self, text: str) -> None:
        """Replace the content by an earlier message; what was in the box can be recalled."""
        self.empty()
        self._recalled_index = None
        self.replace_draft(Draft.from_text(text))

    def _recall(self, step: int) -> bool:
        if not self.text and step < 0:
            self._recalled_index = None  # the recalled message was removed
        if self._recalled_index is None:
            if step > 0 or not self.sent_messages:
                return False
            self._unsent_draft = self.draft
            self._recalled_index = len(self.sent_messages)
        unsent_texts, position = self.unsent_texts(), self._recalled_index + step
        while (
            0 <= position < len(self.sent_messages) and self.sent_messages[position] in unsent_texts
        ):
            position += step
        if position < 0:
            return True
        if position >= len(self.sent_messages):
            self._recalled_index = None
            self.draft = self._unsent_draft
            return True
        self._recalled_index = position
        self.draft = Draft.from_text(self.sent_messages[position])
        return True

    def begin(self, draft: Draft, earlier: list[str], written_for: str | None) -> None:
        """Show another conversation's draft."""
        self._recalled_index = None
        self.sent_messages = earlier
        self.draft = draft
        self.written_for = written_for

    def submit(self, *, steers: bool = False) -> None:
        """Post the text, and empty the box immediately: more may be typed already.

        With `steers`, it is a message for the running turn.
        """
        draft = self.draft
        text, images = draft.text_to_send(), draft.image_paths()
        if not text.strip() and not images:
            self.post_message(self.EmptySubmitted())
            return
        if self.is_shell:
            self._submit_shell(text)
            return
        is_command = self.is_command(text)
        if not is_command and text != self._doubted and (meant := self.suggest_command(text)):
            self._doubted = text
            self.post_message(self.CommandMistyped(meant))
            return
        request_id = self.current_request_id()
        if not is_command and (request_id is None or request_id != self.written_for):
            self.post_message(self.SubmissionHeld())
            return
        self._recalled_index = None
        self.draft = Draft()
        if is_command:
            self.post_message(self.CommandEntered(text.strip()))
        else:
            self.on_sending()
            written_for = request_id or ""
            self.post_message(self.Submitted(self, text, images, written_for, steers=steers))
