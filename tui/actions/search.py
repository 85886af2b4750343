"""The action that searches all messages and opens the one that is chosen."""

from collections.abc import Sequence

from model.api.search import SearchHit, search_messages
from tui.actions.archive import restore
from tui.desk import Desk
from tui.screens.dialog import Confirm
from tui.screens.search import Search
from tui.store.places import Place, is_shown


async def search(desk: Desk) -> None:
    """Search all messages, and open the chosen one."""
    await search_for(desk, "")


async def search_for(desk: Desk, text: str) -> None:
    """Search all messages for a text, which can be changed, and open the chosen one."""

    async def find(query: str, project_id: str | None, limit: int) -> Sequence[SearchHit]:
        return await desk.client.call(
            search_messages, query=query, project_id=project_id, limit=limit
        )

    project = desk.project
    project_id = project.id if project is not None and not project.is_folder else None
    hit = await desk.ask(Search(find, lambda: desk.state, project_id, text))
    if hit is None:
        return
    place = Place("session", hit.session.id)
    worktree = Place("worktree", hit.session.worktree_id)
    if not is_shown(place, desk.state) or not is_shown(worktree, desk.state):
        sentence = f"'{hit.session.name}' is archived. Restore and open it?"
        dialog = Confirm("Archived", sentence, "restore", harmless=True)
        if not await desk.ask(dialog):
            return
        await restore(desk, place)
    desk.open_session(hit.session.id)
    await desk.conversation.reveal(hit.session.id, hit.message_id)
