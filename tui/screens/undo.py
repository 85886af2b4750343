"""The dialogs before an undo and a redo: what happens to each file, and what is taken back."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.base.plural import count
from model.base.text import clean_line
from model.domain.turns import UndoScope
from tui.draw.line_parts import one_line, truncate_start
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from model.api.turns import UndoChoice, UndoneFile, UndoPreview

Decision = tuple[UndoScope, "dict[str, UndoChoice]"]

_ACTIONS: Final = {
    "restore": ("restored", "$success"),
    "merge": ("merged; later changes stay", "$success"),
    "conflict": ("changed since: choose", "$error"),
    "keep": ("kept as it is", "$text-muted"),
    "submodule": ("a submodule: not undone", "$warning"),
}
_CHOICES: Final = {
    "keep": ("kept as it is", "$text-muted"),
    "before": ("taken as it was before", "$warning"),
    "markers": ("both, with conflict markers", "$warning"),
}
_SCOPES: Final[dict[UndoScope, str]] = {
    "both": "files and conversation",
    "files": "files only",
    "conversation": "conversation only",
}
_MAX_PATH: Final = 34
_MAX_PROMPT: Final = 66


class UndoTurn(Dialog[Decision]):
    """Files with their fate; space changes a file's, tab what is undone, enter undoes.

    Args:
        title: The dialog's title.
        prompt: The message that began the turn.
        previews: What the undo of this turn alone does, and that of all turns since.
        later: How many later turns go with the conversation.
    """

    VERB: ClassVar = "undo"
    DELETED: ClassVar = "deleted: the turn added it"
    CHOICES: ClassVar[Mapping[str, tuple[str, str]]] = _CHOICES

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "change_file", show=False),
        Binding("tab", "change_scope(1)", show=False, priority=True),
        Binding("shift+tab", "change_scope(-1)", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        prompt: str,
        previews: "dict[UndoScope, UndoPreview]",
        *,
        later: int = 0,
    ) -> None:
        super().__init__(title)
        self._prompt = one_line(prompt, _MAX_PROMPT)
        self._previews = previews
        self._scopes = [scope for scope in _SCOPES if scope in previews]
        self._what = self._scopes[0]
        self._later = later
        self._choices: dict[str, UndoChoice] = {}

    @property
    def files(self) -> "list[UndoneFile]":
        """The files of the chosen scope."""
        return self._previews[self._what].files

    def body(self) -> list[Widget]:
        """What is undone, the files, and the keys."""
        return [
            Static(f"“{self._prompt}”" if self._prompt else "", markup=False, classes="words"),
            Static(id="undo-scope", markup=False, classes="words"),
            OptionList(markup=False, compact=True),
            Static(id="undo-keys", classes="keys"),
        ]

    def on_mount(self) -> None:
        """Show the files."""
        self._fill(0)
        self.query_one(OptionList).focus()

    def describe(self) -> str:
        """What enter does."""
        sentence = f"Undo {_SCOPES[self._what]}."
        if self._what != "files" and self._later:
            sentence += f" {count(self._later, 'later turn')} will be taken back as well."
        return sentence

    def _fill(self, at: int) -> None:
        self.query_one("#undo-scope", Static).update(self.describe())
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(self._row(file)) for file in self.files])
        options.display = bool(self.files)
        options.highlighted = min(at, len(self.files) - 1) if self.files else None
        keys = [("enter", self.VERB), *([("space", "change")] if self.files else [])]
        scope = [("tab", "files, conversation, both")] if len(self._scopes) > 1 else []
        lines = [keys_line(*keys, ("esc", "cancel")), *([keys_line(*scope)] if scope else [])]
        self.query_one("#undo-keys", Static).update(Content("\n").join(lines))

    def _row(self, file: "UndoneFile") -> Content:
        choice = self._choices.get(file.path)
        text, color = self.CHOICES[choice] if choice else _ACTIONS[file.action]
        if choice == "before" and file.deletes:
            text = "deleted"
        if file.others and choice is None:
            text = "kept: others changed it, too"
        elif file.deletes and file.action == "restore" and choice is None:
            text, color = self.DELETED, "$warning"
        path = truncate_start(clean_line(file.path), _MAX_PATH)
        return Content.assemble(f"{path:<{_MAX_PATH}}  ", (text, color))

    def action_change_file(self) -> None:
        """Give the file under the cursor its next choice."""
        at = self.query_one(OptionList).highlighted
        if at is None:
            return
        file = self.files[at]
        if file.action == "submodule":
            return
        # Not one that changes nothing: such a file is kept anyway.
        keeps = ["keep"] * (file.action != "keep")
        choices = cast("list[UndoChoice]", [*keeps, "before", *(["markers"] * file.has_markers)])
        present = self._choices.get(file.path)
        following = choices[choices.index(present) + 1 :] if present else choices
        if following:
            self._choices[file.path] = following[0]
        elif file.action == "conflict":
            self._choices[file.path] = choices[0]
        else:
            del self._choices[file.path]
        self._fill(at)

    def action_change_scope(self, step: int) -> None:
        """Choose what else is undone."""
        at = (self._scopes.index(self._what) + step) % len(self._scopes)
        self._what = self._scopes[at]
        self._fill(0)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_agree()

    def on_key(self, event: object) -> None:
        """Agree with enter where no file is listed."""
        if getattr(event, "key", "") == "enter" and not self.files:
            self.action_agree()

    def action_agree(self) -> None:
        """Undo, unless a file still needs a choice."""
        undecided = [
            at
            for at, file in enumerate(self.files)
            if file.action == "conflict" and file.path not in self._choices
        ]
        if undecided:
            self.query_one(OptionList).highlighted = undecided[0]
            self.notify("Choose what happens to this file first: space.", markup=False)
            return
        paths = {file.path for file in self.files}
        self.dismiss((self._what, {p: c for p, c in self._choices.items() if p in paths}))


class RedoTurn(UndoTurn):
    """The same before an undo is taken back, where files changed since."""

    VERB = "redo"
    DELETED = "deleted: the turn deleted it"
    CHOICES = _CHOICES | {"before": ("taken as before the undo", "$warning")}

    def __init__(self, title: str, prompt: str, preview: "UndoPreview") -> None:
        super().__init__(title, prompt, {"files": preview})

    def describe(self) -> str:
        """What enter does."""
        return "Redo: the files change as follows."
