"""The lists of open work: what each can be filtered by, and how a page of it is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, cast

from model.api import hosting as commands
from model.domain.hosting import ItemState, WorkItem, WorkKind

if TYPE_CHECKING:
    from model.api.command import Command
    from model.client.base import Client

PAGE_SIZE: Final = 100
"""Items of a page; a shorter one is the last."""

TabId = Literal["all"] | WorkKind


@dataclass(frozen=True, slots=True)
class Tab:
    """A list of work to begin from."""

    id: TabId
    title: str
    short: str
    """The title on narrow terminals."""
    has_search: bool = False
    """Whether the service can search in it; likewise below."""
    has_state: bool = False
    has_people: bool = False
    """Whether its items have labels and assignees."""


TABS: Final = (
    Tab("all", "All open", "All open", has_search=True),
    Tab("issue", "Issues", "Issues", has_search=True, has_state=True, has_people=True),
    Tab("pull_request", "Pull requests", "PRs", has_search=True, has_state=True, has_people=True),
    Tab("workflow_run", "Workflow runs", "Runs", has_state=True),
    Tab("security_alert", "Security alerts", "Alerts", has_state=True),
    Tab("advisory", "Advisories", "Advisories", has_state=True),
    Tab("tracker_issue", "Issue tracker", "Tracker", has_search=True, has_state=True,
        has_people=True),
)  # fmt: skip
"""All lists, in their order on the screen. The first one has all projects, the others one."""


@dataclass(frozen=True, slots=True)
class WorkFilters:
    """What is listed of a kind; what a list does not have is ignored there."""

    state: ItemState = "open"
    labels: tuple[str, ...] = ()
    assignee: str = ""
    """A login, or `@me`."""

    def describe(self, tab: Tab) -> str:
        """Return what is filtered, in a few words."""
        state = {"open": "failed", "all": "all"} if tab.id == "workflow_run" else {}
        words = [state.get(self.state, self.state)] if tab.has_state else ["open"]
        if tab.has_people:
            words += [f"label {label}" for label in self.labels]
            words += [f"assigned to {self.assignee}"] if self.assignee else []
        return " · ".join(words)


@dataclass(frozen=True, slots=True)
class Entry:
    """An item of a project, or why those of a project are missing."""

    project_id: str
    item: WorkItem | None
    problem: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Identifies the entry among all."""
        return self.project_id, *((self.item.kind, self.item.id) if self.item else ("problem", ""))


@dataclass(frozen=True, slots=True)
class WorkPage:
    """Entries, and whether there are no more."""

    entries: Sequence[Entry]
    is_last: bool


@dataclass(frozen=True, slots=True)
class WorkRequest:
    """A list that is wanted."""

    tab: Tab
    project_id: str
    search: str = ""
    filters: WorkFilters = field(default_factory=WorkFilters)


async def read_page(client: "Client", wanted: WorkRequest, page: int, refresh: bool) -> WorkPage:
    """Read a page, counted from 1. Raises `SpinneyError`."""
    if wanted.tab.id == "all":
        return await _read_all(client, wanted.search, refresh)
    items = await _read_kind(client, wanted, page, refresh)
    entries = [Entry(wanted.project_id, item) for item in items]
    return WorkPage(entries, is_last=len(entries) < PAGE_SIZE)


async def _read_all(client: "Client", search: str, refresh: bool) -> WorkPage:
    work = await client.call(commands.list_open_work, search=search, refresh=refresh)
    entries = [Entry(each.project_id, each.item) for each in work.items]
    problems = [Entry(each.project_id, None, each.message) for each in work.problems]
    return WorkPage([*entries, *problems], is_last=True)


_WITH_PEOPLE: "Final[Mapping[str, Command[..., Sequence[WorkItem]]]]" = {
    "issue": cast("Command[..., Sequence[WorkItem]]", commands.list_issues),
    "pull_request": cast("Command[..., Sequence[WorkItem]]", commands.list_pull_requests),
    "tracker_issue": cast("Command[..., Sequence[WorkItem]]", commands.list_tracker_issues),
}
"""The lists with labels and assignees; all take the same arguments."""


async def _read_kind(
    client: "Client", wanted: WorkRequest, page: int, refresh: bool
) -> Sequence[WorkItem]:
    filters, project_id = wanted.filters, wanted.project_id
    match wanted.tab.id:
        case "workflow_run":
            return await client.call(
                commands.list_workflow_runs,
                project_id=project_id,
                state="failed" if filters.state == "open" else "all",
                page=page,
                refresh=refresh,
            )
        case "security_alert":
            return await client.call(
                commands.list_security_alerts,
                project_id=project_id,
                state=filters.state,
                page=page,
                refresh=refresh,
            )
        case "advisory":
            return await client.call(
                commands.list_advisories,
                project_id=project_id,
                state=filters.state,
                page=page,
                refresh=refresh,
            )
    return await client.call(
        _WITH_PEOPLE[wanted.tab.id],
        project_id=project_id,
        search=wanted.search,
        state=filters.state,
        labels=list(filters.labels) or None,
        assignee=filters.assignee,
        page=page,
        refresh=refresh,
    )
