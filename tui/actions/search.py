"""The search over all messages, and the way to the one that was found."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from model.commands.search import SearchHit, search_messages
from tui.actions.archive import restore
from tui.screens.dialog import Confirm
from tui.screens.search import Search
from tui.store.places import Place, is_shown

if TYPE_CHECKING:
    from tui.shell.main_screen import MainScreen


async def search(screen: "MainScreen") -> None:
    """Find what was said, and go there."""

    async def find(words: str, project_id: str | None, limit: int) -> Sequence[SearchHit]:
        return await screen.client.call(
            search_messages, query=words, project_id=project_id, limit=limit
        )

    project = screen.project
    project_id = project.id if project is not None and not project.is_folder else None
    hit = await screen.app.push_screen_wait(Search(find, lambda: screen.state, project_id))
    if hit is None:
        return
    place = Place("session", hit.session.id)
    worktree = Place("worktree", hit.session.worktree_id)
    if not is_shown(place, screen.state) or not is_shown(worktree, screen.state):
        sentence = f"“{hit.session.name}” is in the archive. Bring it back and open it?"
        dialog = Confirm("Archived", sentence, "bring it back", harmless=True)
        if not await screen.app.push_screen_wait(dialog):
            return
        await restore(screen, place)
    assert screen.link is not None
    screen.action_open_session(hit.session.id)
    await screen.link.reveal(hit.session.id, hit.message_id)
