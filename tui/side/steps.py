"""The agent's to-do list in the side pane, its steps ticked off."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.widgets import Static

if TYPE_CHECKING:
    from model.domain.tool_uses import Step

MAX_ROWS: Final = 12
"""Steps that are shown; of more, those around the first that is not done."""
_SIGNS: Final = {"done": ("✓ ", "$success"), "running": ("▸ ", "$accent"), "pending": ("· ", "")}
_STYLES: Final = {"done": "$text-muted", "running": "bold", "pending": ""}


class StepsView(Static):
    """The steps of the open session's newest to-do list; hidden if it has none."""

    DEFAULT_CSS = """
    StepsView {
        height: auto; padding: 0 1; margin-bottom: 1; display: none;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(self) -> None:
        super().__init__(id="side-steps", markup=False)

    def show(self, steps: "Sequence[Step]") -> None:
        """Show these steps."""
        self.display = bool(steps)
        done = sum(step.state == "done" for step in steps)
        at = next((n for n, step in enumerate(steps) if step.state != "done"), len(steps))
        first = max(0, min(at - MAX_ROWS // 2, len(steps) - MAX_ROWS))
        rows = [
            Content.assemble(("Steps", "bold"), (f"  {done} of {len(steps)} done", "$text-muted"))
        ]
        for step in steps[first : first + MAX_ROWS]:
            sign, color = _SIGNS[step.state]
            rows.append(Content.assemble((sign, color), (step.text, _STYLES[step.state])))
        self.update(Content("\n").join(rows))
