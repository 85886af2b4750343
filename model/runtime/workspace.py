"""The workspace: all components of a running Spinney, and their startup and shutdown."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

from model import worktrees
from model.access.grants import Grants
from model.agents.catalog import Catalog
from model.backends.base import Backend
from model.backends.model_list_cache import ModelListCache
from model.backends.orphans import OWNER_VARIABLE, build_owner_mark, kill_orphans
from model.background.cleanup import find_lost_sessions, sweep
from model.background.conflict_radar import ConflictRadar
from model.background.memory_release import return_freed_memory
from model.background.poller import Poller
from model.background.pull_request_loop import PullRequestLoops
from model.background.recovery_pruning import RecoveryPruning
from model.background.release_checks import repeat_release_checks
from model.background.retention import Retention
from model.base.cancellation import CancellableTasks
from model.base.paths import Directories
from model.chat import interrupted_runs
from model.chat.agent_commands import merge_commands
from model.chat.chats import Chats
from model.chat.conversations import Conversations
from model.chat.decisions import Decisions
from model.chat.foreign_sessions import ForeignSessionFinder
from model.chat.handover import HandoverWriter
from model.chat.queues import Queues
from model.chat.raw_logs import RawLogs
from model.chat.recap import RecapWriter
from model.chat.session_naming import SessionNaming
from model.chat.tool_outputs import ToolOutputs, remove_files_of_deleted_sessions
from model.chat.uploads import Uploads
from model.domain.agent_commands import AgentCommand
from model.domain.events.program import ModelsUpdated, PreferencesUpdated, TaskCompleted
from model.domain.worktrees import Worktree
from model.hosting.details import PullRequestCache
from model.hosting.linear import Linear
from model.hosting.list_cache import ListCache
from model.landing.desk import DeskSources
from model.landing.pull_requests import look_up_pull_request
from model.landing.services import LandingServices
from model.limits.budgets import Budgets
from model.limits.timer import ResumeTimer
from model.notices.links import Links
from model.notices.service import Notices
from model.preferences.file import PreferencesFile
from model.preferences.schema import Preferences
from model.reviewing.code_reviews import CodeReviews
from model.reviewing.comparisons import Comparisons
from model.reviewing.verdicts import Verdicts
from model.runtime.http_server import HttpServer
from model.runtime.launch import LayeredLaunchResolver
from model.runtime.page_address import find_page_address
from model.runtime.restarting import Restarter, describe_program
from model.scripts.process import build_environment
from model.scripts.runner import ScriptRunner
from model.scripts.shell_commands import ShellCommands
from model.service.releases import Ask, ReleaseCheck, ask_installer
from model.state import State
from model.store.backups import DailyBackups
from model.store.bus import EventBus
from model.store.database import Database
from model.store.store import Store
from model.turns.recorder import TurnRecorder
from model.turns.undoing import TurnUndoer
from model.usage.meter import UsageMeter
from model.usage.reports import UsageReports
from model.worktrees import ports, renaming
from model.worktrees.adopting import OutsideWorktrees
from model.worktrees.branch_naming import BranchNamer
from model.worktrees.file_search import FileSearch
from model.worktrees.item_context import ItemContextStore
from model.worktrees.recovery import RecoveryPoints
from model.worktrees.removal import WorktreeRemover
from model.worktrees.restoring import WorktreeRestorer
from model.worktrees.restoring_sessions import SessionRestorer
from model.writing.prompt_agents import PromptAgents
from model.writing.writer import Writer

MODEL_REFRESH_DELAY = 30.0
"""Seconds after startup when agents are asked for their models."""

IN_USE_PERIOD = 14 * 24 * 3600.0
"""Seconds for which an agent counts as in use after its last session was used."""

_log = logging.getLogger(__name__)


class Workspace:
    """Owns the store, the agents and the background work. Belongs to the core's event loop."""

    def __init__(
        self,
        directories: Directories,
        backends: Mapping[str, Backend],
        catalog: Catalog,
        *,
        demo: bool = False,
    ) -> None:
        self.directories = directories
        self.demo = demo
        """Whether the demo agent is available, and the default unless another one is chosen."""
        self.backends = backends
        self.bus = EventBus()
        self.problems: list[str] = []
        """Messages about problems found at startup or later, for the first screen."""
        self._preference_problems: list[str] = []
        """Those of them that concern the current preferences file."""
        self.http_server: HttpServer | None = None
        self.request_shutdown: Callable[[], None] | None = None
        """Shuts down the whole program cleanly; set by the entry point."""
        self.ask_for_release: Ask = ask_installer
        """Fetches from the network; tests replace it."""
        self.restarted_from: str | None = None
        """The version that this one has replaced, set by the entry point."""
        self.cancellable_tasks = CancellableTasks()
        self.files = FileSearch()
        self.clone_progress: dict[str, str] = {}
        """The target directories of running clones, each with git's latest progress message."""
        self.store: Store
        self.grants: Grants
        self.conversations: Conversations
        self.chats: Chats
        self.queues: Queues
        self.decisions: Decisions
        self.outputs: ToolOutputs
        self.raw_logs: RawLogs
        self.uploads: Uploads
        self.contexts: ItemContextStore
        self.lists = ListCache()
        """The lists of hosting services and of the issue tracker."""
        self.tracker = Linear()
        self.prompt_agents: PromptAgents
        self.writer: Writer
        self.foreign_sessions: ForeignSessionFinder
        self.naming: SessionNaming
        self.branch_naming: BranchNamer
        self.recaps: RecapWriter
        self.scripts: ScriptRunner
        self.shell_commands: ShellCommands
        self.removals: WorktreeRemover
        self.outside_worktrees: OutsideWorktrees
        self.recovery_points: RecoveryPoints
        self.restoring: WorktreeRestorer
        self.restoring_sessions: SessionRestorer
        self.undoer: TurnUndoer
        self.usage: UsageMeter
        self.usage_reports: UsageReports
        self.budgets: Budgets
        self.verdicts: Verdicts
        self.code_reviews: CodeReviews
        self.comparisons: Comparisons
        self.radar: ConflictRadar
        self.landing: LandingServices
        self.pull_requests: PullRequestCache
        self.poller: Poller
        self.notices: Notices
        self.restarter: Restarter
        self._preferences_file = PreferencesFile(directories.preferences)
        self._background: set[asyncio.Task[None]] = set()
        self._exit_stack = AsyncExitStack()
        self.models = ModelListCache(
            directories.reported_models,
            catalog,
            backends,
            {OWNER_VARIABLE: build_owner_mark(directories.data)},
            self.run_in_background,
            lambda backend: self.store.record(ModelsUpdated(backend=backend)),
        )

    @property
    def catalog(self) -> Catalog:
        """The agents, with the models that their programs are known to offer."""
        return self.models.catalog

    async def start(self) -> None:
        """Open the files, close what a killed Spinney left open, start the background work.

        Raises `SpinneyError` if there is no usable data directory; nothing is left open then.
        """
        try:
            await self._open()
        except BaseException:
            await self.stop()
            raise

    async def _open(self) -> None:
        """Assemble everything, in the order in which one part needs another."""
        await asyncio.to_thread(kill_orphans, self.directories.data)
        await self._open_store()
        await self._open_program()
        await self._open_agents()
        await self._open_files()
        self._open_conversations()
        self._open_worktrees()
        self._open_landing()
        self._follow_events()
        self._open_notices()
        self.run_in_background(self._preferences_file.watch(self._on_preferences_edited))
        self.run_in_background(return_freed_memory(self.bus))
        self.run_in_background(self._refresh_models())

    async def _open_store(self) -> None:
        preferences, problems = await self._preferences_file.load()
        database, database_problem = await Database.open(self.directories.database)
        self._exit_stack.push_async_callback(database.close)
        saved = await database.load()
        self.problems += [*problems, *([database_problem] if database_problem else [])]
        if saved.damage:
            self.problems.append(await database.back_up_and_repair(saved))
        queued: dict[str, tuple[Any, ...]] = {}
        for message in saved.queued:
            queued[message.session_id] = (*queued.get(message.session_id, ()), message)
        state = State(
            projects={project.id: project for project in saved.projects},
            worktrees={worktree.id: worktree for worktree in saved.worktrees},
            sessions={session.id: session for session in saved.sessions},
            queued=queued,
            streaming={message.id: message for message in saved.unfinished},
            preferences=preferences,
            notices={notice.id: notice for notice in saved.notices},
            program=describe_program(self.restarted_from),
        )
        self.store = Store(database, self.bus, state)
        self._exit_stack.push_async_callback(self.store.close)

    async def _open_program(self) -> None:
        """Restarts, newer versions, and who may use this program."""
        self.restarter = Restarter(self.store)
        self._exit_stack.push_async_callback(self.restarter.close)
        self.run_in_background(self.restarter.run())
        releases = ReleaseCheck(
            self.directories.data / "releases.json", lambda: self.ask_for_release()
        )
        report = self.restarter.note_release
        self.run_in_background(repeat_release_checks(self.store, releases, report))
        self.grants = Grants(self.store, self.directories.access)
        self._exit_stack.push_async_callback(self.grants.close)
        await self.grants.load()

    async def _open_agents(self) -> None:
        for backend in self.backends.values():
            self._exit_stack.push_async_callback(backend.close)
        await self.models.load()
        self._exit_stack.push_async_callback(self.models.close)
        self.prompt_agents = PromptAgents(self.store, self.models, demo=self.demo)
        self.usage = UsageMeter(self.store)
        await self.usage.load()
        self.usage_reports = UsageReports(self.store, lambda backend: self.catalog.label(backend))
        self._exit_stack.push_async_callback(self.usage.close)
        self.writer = Writer(
            self.store,
            self.backends,
            self.models,
            self.prompt_agents,
            self.usage,
            self._environment_of,
        )
        self._exit_stack.push_async_callback(self.writer.close)
        self.foreign_sessions = ForeignSessionFinder(
            self.store, self.backends, self._environment_of, self.catalog.label
        )
        self.naming = SessionNaming(self.store, self.writer)
        self.branch_naming = BranchNamer(self.store, self.writer)
        self.recaps = RecapWriter(self.store, self.writer)
        # Canceled after all that is opened from here on is closed, and before what it needs.
        self._exit_stack.push_async_callback(self._cancel_background)

    async def _open_files(self) -> None:
        """What lies beside the database."""
        self.raw_logs = RawLogs(
            self.directories, self.store, partial(self._report_problem, task="raw_log")
        )
        self._exit_stack.push_async_callback(self.raw_logs.close)
        self.outputs = ToolOutputs(self.directories.outputs)
        self._exit_stack.push_async_callback(self.outputs.close)
        self.uploads = Uploads(self.directories.pictures)
        lost = await asyncio.to_thread(
            find_lost_sessions, self.directories, frozenset(self.store.state.sessions)
        )
        self.run_in_background(
            remove_files_of_deleted_sessions(
                self.store, self.outputs, self.uploads, self.raw_logs, keep=lost
            )
        )
        self.run_in_background(sweep(self.store, self.directories))
        backups = DailyBackups(
            self.directories.database, partial(self._report_problem, task="backup")
        )
        self.run_in_background(backups.run())
        self.contexts = ItemContextStore(self.directories.contexts)
        self._exit_stack.push_async_callback(self.lists.close)

    def _open_conversations(self) -> None:
        launch_resolver = LayeredLaunchResolver(
            self.store,
            self.models,
            self._environment_of,
            self.raw_logs.make_recorder,
            self.change_preferences,
            self.run_in_background,
        )
        handovers = HandoverWriter(self.store, self.writer, self.catalog)
        recorder = TurnRecorder(self.store)
        self.undoer = TurnUndoer(self.store, recorder)
        self.budgets = Budgets(self.store, self.bus, self.usage.await_costs)
        self.run_in_background(self.budgets.run())
        self.conversations = Conversations(
            self.store,
            self.backends,
            launch_resolver,
            self.outputs,
            handovers,
            recorder,
            self.usage,
            self.budgets,
        )
        self.chats = Chats(self.store, self.conversations, self.backends, self.outputs)
        self.queues = Queues(self.store, self.conversations)
        self.decisions = Decisions(self.store, self.conversations)
        self._exit_stack.push_async_callback(recorder.close)
        self._exit_stack.push_async_callback(self.conversations.close)
        interrupted_runs.recover(self.store)
        self.run_in_background(recorder.recover())

    def _open_worktrees(self) -> None:
        self.scripts = ScriptRunner(self.store, self.directories, self.queues.send_held_messages)
        self._exit_stack.push_async_callback(self.scripts.close)
        self.shell_commands = ShellCommands(self.store, self.directories)
        self._exit_stack.push_async_callback(self.shell_commands.close)
        self.scripts.recover()
        self.recovery_points = RecoveryPoints(self.store, self.directories)
        self.verdicts = Verdicts(self.store, self.directories.reviews, self.recovery_points)
        self.code_reviews = CodeReviews(
            self.store, self.directories.reviews, self.writer, self._label_reviewer
        )
        self._exit_stack.push_async_callback(self.code_reviews.close)
        self.comparisons = Comparisons(self.store, self.directories.comparisons)
        self.removals = WorktreeRemover(
            self.store,
            self.directories,
            self.scripts,
            self.conversations.end_agent,
            self.recovery_points,
            self.undoer.lock,
            lambda worktree, tips: self.landing.merged.find_kept(worktree, tips),
        )
        self.restoring = WorktreeRestorer(self.store, self.directories, self.recovery_points)
        self.restoring_sessions = SessionRestorer(
            self.store, self.directories, self.recovery_points
        )
        self.run_in_background(self.restoring.recover())
        self.run_in_background(self._finish_creations())
        self.run_in_background(self.removals.recover())
        self.run_in_background(renaming.recover(self.store))
        self.run_in_background(ports.assign_missing(self.store))
        self.outside_worktrees = OutsideWorktrees(self.store, self.directories.data)
        self.run_in_background(self.outside_worktrees.run())
        retention = Retention(
            self.store,
            self.removals,
            self.conversations.end_agent,
            self.recovery_points.save_session,
        )
        self.run_in_background(retention.run())
        self.run_in_background(RecoveryPruning(self.store, self.directories).run())

    def _open_landing(self) -> None:
        self.radar = ConflictRadar(
            self.store,
            self.directories.radar,
            lambda *of: self.landing.merged.is_merged(*of),
        )
        self.run_in_background(self.radar.run())
        self.pull_requests = PullRequestCache(self.store)
        sources = DeskSources(
            self.radar.list_conflicts,
            self.verdicts.read_progress,
            partial(look_up_pull_request, self.pull_requests, self.run_in_background),
        )
        self.landing = LandingServices(
            self.store,
            self.bus,
            self.directories,
            self.scripts,
            self.removals,
            self.restoring,
            self.recovery_points,
            self.chats.stop,
            sources,
        )
        self._exit_stack.push_async_callback(self.landing.close)
        self.run_in_background(self.landing.run())

    def _follow_events(self) -> None:
        """What acts by itself after events, or at a time."""
        self.poller = Poller(
            self.store,
            self.bus,
            worktrees.archive,
            self.radar,
            self.landing.note_status,
            self.pull_requests.note_change,
        )
        self.run_in_background(self.poller.run())
        loops = PullRequestLoops(self.store, self.bus, self.pull_requests, self.chats.send)
        self.run_in_background(loops.run())
        timer = ResumeTimer(self.store, self.bus, self.queues.resume, self.queues.send_due)
        self.run_in_background(timer.run())

    def _open_notices(self) -> None:
        self.notices = Notices(
            self.store,
            self.bus,
            links=Links(
                lambda: find_page_address(self.store.state.preferences, self.http_server),
                self.grants.create_action,
            ),
            environment={OWNER_VARIABLE: build_owner_mark(self.directories.data)},
            push_file=self.directories.push,
            folders=(self.directories.data, self.directories.worktrees_home),
            pull_requests=self.pull_requests,
        )
        self.run_in_background(self.notices.run())

    async def stop(self) -> None:
        """Close agents and background work, save what is left. Stopping twice is harmless."""
        await self._exit_stack.aclose()

    async def list_agent_commands(self, backend: str, worktree: Worktree) -> list[AgentCommand]:
        """Return the agent's own commands in the worktree: those reported, and those in files."""
        reported = self.conversations.reported_commands(worktree.id, backend)
        driver = self.backends.get(backend)
        if driver is None:
            return merge_commands(reported, ())
        directory = Path(worktree.path)
        return merge_commands(
            reported, await driver.list_commands(directory, self._environment_of(worktree))
        )

    async def _refresh_models(self) -> None:
        """Refresh outdated model lists, some time after startup when the machine is less busy."""
        await asyncio.sleep(MODEL_REFRESH_DELAY)
        cutoff = time.time() - IN_USE_PERIOD
        sessions = self.store.state.sessions.values()
        backends = {
            each.backend for each in sessions if each.message_count and each.updated_at > cutoff
        }
        for backend in sorted(backends):
            await self.models.refresh(backend)

    async def _finish_creations(self) -> None:
        for worktree in await worktrees.recover(self.store):
            await self.scripts.run_setup(worktree.id)

    async def _cancel_background(self) -> None:
        for task in tuple(self._background):
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    def run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine that nothing awaits; a failure is logged."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._on_background_done)

    def _on_background_done(self, task: "asyncio.Task[None]") -> None:
        self._background.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("background work failed", exc_info=task.exception())

    async def change_preferences(self, preferences: Preferences) -> Preferences:
        """Save new preferences to their file and publish what changed. Raises `SpinneyError`.

        Returns what was saved, which includes edits of the file that were not noticed yet.
        """
        previous = self.store.state.preferences
        saved = await self._preferences_file.save(preferences, previous)
        self._publish_preferences(saved)
        return saved

    async def _on_preferences_edited(self, preferences: Preferences, problems: list[str]) -> None:
        """Apply an edited preferences file; `problems` are all that it has now."""
        known_problems = self.problems
        outdated = {*self._preference_problems, *problems}
        self.problems = [
            *(problem for problem in known_problems if problem not in outdated),
            *problems,
        ]
        self._preference_problems = problems
        self._publish_preferences(preferences)
        for problem in problems:
            if problem not in known_problems:
                self.store.record(TaskCompleted(task="preferences", ok=False, detail=problem))

    def _publish_preferences(self, preferences: Preferences) -> None:
        old = self.store.state.preferences.model_dump(mode="json")
        new = preferences.model_dump(mode="json")
        changes = {key: value for key, value in new.items() if old.get(key) != value}
        if changes:
            self.store.record(PreferencesUpdated(changes=changes))
            self.conversations.agent_pool.schedule()

    def _report_problem(self, problem: str, task: str) -> None:
        """Publish a problem, and keep it for clients that connect later."""
        self.problems.append(problem)
        self.store.record(TaskCompleted(task=task, ok=False, detail=problem))

    def _label_reviewer(self, worktree: Worktree) -> str:
        """Return the name of the agent that reviews a worktree."""
        project = self.store.state.projects.get(worktree.project_id)
        chosen = self.prompt_agents.choose("code_review", project)
        return self.catalog.label(chosen.backend)

    def _environment_of(self, worktree: Worktree) -> dict[str, str]:
        """Return the environment variables of Spinney's agents and of all that they start."""
        project = self.store.state.projects.get(worktree.project_id)
        return build_environment(worktree, project, self.directories.data)
