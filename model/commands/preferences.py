"""Commands about preferences."""

from typing import TYPE_CHECKING, Any

from model.commands.registry import command
from model.preferences import Preferences
from model.preferences_changes import changed, redacted

if TYPE_CHECKING:
    from model.workspace import Workspace


@command
async def get_preferences(workspace: "Workspace") -> Preferences:
    """All preferences; secrets are hidden."""
    return redacted(workspace.store.state.preferences)


@command
async def update_preferences(workspace: "Workspace", changes: dict[str, Any]) -> Preferences:
    """Change preferences, all or none; the error names the key and what it may be."""
    wanted = changed(workspace.store.state.preferences, changes)
    await workspace.change_preferences(wanted)
    return redacted(wanted)
