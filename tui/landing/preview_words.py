"""What the preview of a landing says, and which ways out there are where it is refused."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content

from model.base.plural import count
from model.base.text import clean_line
from tui.draw.line_parts import one_line, truncate_start
from tui.landing.about_row import check_line

if TYPE_CHECKING:
    from model.domain.landing import LandingPreview

_MAX_BASE: Final = 30
_MAX_PATH: Final = 44
_MAX_FILES: Final = 4
"""Files in conflict, or with markers, that are named."""


def describe_preview(preview: "LandingPreview") -> Content:
    """What comes into which base, what follows, and the state of the check."""
    base = one_line(clean_line(preview.base), _MAX_BASE)
    at = (f" at {preview.base_commit[:7]}", "$text-muted")
    lines: list[str | Content] = [
        Content.assemble(
            (f"{count(preview.commits, 'commit')} → {base}", "bold"),
            at,
            f"   {count(preview.files, 'file')}  ",
            (f"+{preview.added}", "$success"),
            (f" −{preview.removed}", "$error"),
        )
        if preview.head_commit
        else Content.assemble((f"→ {base}", "bold"), at)  # Nothing is counted until it is ready.
    ]
    if preview.conflicts:
        lines.append(Content.styled(f"In conflict: {_name(preview.conflicts)}.", "$error"))
    if preview.marked_files:
        marked = f"Adds conflict markers to {_name(preview.marked_files)}."
        lines.append(Content.styled(marked, "$warning"))
    lines += [Content.styled(clean_line(warning), "$warning") for warning in preview.warnings]
    check = check_line(preview.check)
    vouches = is_green(preview) and not preview.offers_train
    tone = "$success" if vouches else "$warning" if preview.check.has_script else ""
    lines.append(Content.styled(check, tone or "$text-muted"))
    if preview.checked_out_in:
        place = truncate_start(clean_line(preview.checked_out_in), _MAX_PATH)
        lines.append(
            Content.styled(f"{base} is checked out in {place}, which follows.", "$text-muted")
        )
    return Content("\n").join(lines)


def _name(paths: Sequence[str]) -> str:
    shown = [truncate_start(clean_line(path), _MAX_PATH) for path in paths[:_MAX_FILES]]
    more = f" and {len(paths) - len(shown)} more" if len(paths) > len(shown) else ""
    return ", ".join(shown) + more


def is_green(preview: "LandingPreview") -> bool:
    """Whether the check passed on exactly what would land."""
    return preview.check.status == "passed" and not preview.check.is_stale


def list_ways_out(preview: "LandingPreview") -> list[tuple[str, str]]:
    """The keys, with their labels, of what can be done where landing is refused."""
    if preview.conflicts:
        return [("f", "send to its session"), ("d", "changes")]
    if preview.new_base:
        base = one_line(clean_line(preview.new_base), _MAX_BASE)
        return [("u", f"move it onto {base}"), ("d", "changes")]
    if preview.offers_stash:
        return [("s", "stash them, land, bring them back"), ("o", "open those changes")]
    ways = [("m", "commit"), ("d", "changes")]
    anyway = [("i", "land anyway")] if preview.held_by_check else []
    if preview.check.is_missing:
        return [*anyway, *ways]
    if preview.check.has_script and not is_green(preview):
        sends = [("f", "send to its session")] if preview.check.status == "failed" else []
        train = [("t", "check and land as a train")] if preview.offers_train else []
        ways = [("c", "run the check"), *sends, *train, *anyway, *ways]
    return ways
