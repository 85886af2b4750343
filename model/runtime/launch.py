"""How an agent is started and set: the layers of session, project and person put together."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from model.backends.base import Launch, Settings
from model.backends.known_models import KnownModels
from model.backends.model_lists import ModelList
from model.backends.traffic import Record
from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.events import Event, ProjectUpdated
from model.domain.resources import Project, Session, Worktree
from model.preferences import profiles
from model.preferences.precedence import effort_for, layered, most_of_own_effort
from model.preferences.schema import Preferences
from model.state import State
from model.store.store import Store
from model.worktrees import worktree_in

PARALLEL_EXECUTION: Final = (
    "Where parts of the work do not depend on each other, let sub-agents do them at the same time."
)
"""The built-in prompt that `parallel_execution_prompt_enabled` adds."""

_LONGEST_NAME: Final = 200
_MOST_SERVERS: Final = 200
"""What a person may have configured; more is a program gone wrong."""


class Launching:
    """Knows the layers.

    `environment_of` gives what the worktree's programs find around them, `record_of` what takes the
    words of a session, given the profile whose keys it masks; `save` keeps changed
    preferences, in work that goes to `in_background`.
    """

    def __init__(
        self,
        store: Store,
        models: KnownModels,
        environment_of: Callable[[Worktree], Mapping[str, str]],
        record_of: Callable[[str, Mapping[str, Any]], Record],
        save: Callable[[Preferences], Awaitable[None]],
        in_background: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._store = store
        self._models = models
        self._environment_of = environment_of
        self._record_of = record_of
        self._save = save
        self._in_background = in_background
        self._noting = asyncio.Lock()

    def resolve_settings(self, session: Session) -> Settings:
        """The session's settings as its program takes them."""
        state = self._store.state
        preferences = state.preferences
        thinking = session.thinking_level
        name = profiles.name_for(preferences, _project_of(session, state))
        for profile in preferences.custom_cli_profiles:
            if profile.name == name and profile.supports_thinking is False:
                thinking = "off"
        model, is_preset = self._models.resolve(session.backend, session.model, name)
        return Settings(
            mode=session.execution_mode,
            model=model,
            model_is_preset=is_preset,
            thinking=thinking,
            effort=effort_for(session.backend, thinking, preferences),
            most_of_own_effort=most_of_own_effort(session.backend, thinking, preferences),
            web_in_plan=preferences.allow_web_tools_in_plan_mode,
        )

    async def resolve_launch(self, session: Session) -> Launch:
        """What starts the session's agent. Raises `SpinneyError` where nothing can run there."""
        profile, note = await self._profile(session)
        state = self._store.state
        worktree = worktree_in(state, session.worktree_id)
        project = state.projects.get(worktree.project_id)
        return Launch(
            session_id=session.id,
            worktree=_directory(worktree),
            settings=self.resolve_settings(session),
            resume_token=session.resume_token or None,
            system_prompt=system_prompt(state.preferences, project),
            environment=self._environment_of(worktree),
            mcp_off=mcp_off(state.preferences, project),
            profile=profile,
            note=note,
            browser=state.preferences.chrome_enabled,
            sub_agents=_sub_agents(session.backend, state.preferences),
            record=self._record_of(session.id, profile),
        )

    async def _profile(self, session: Session) -> tuple[Mapping[str, Any], str]:
        """The settings of the session's provider profile; one for another agent is told of."""
        state = self._store.state
        name = profiles.name_for(state.preferences, _project_of(session, state))
        profile = profiles.named(name, state.preferences)
        found = await asyncio.to_thread(profiles.read, profile) if profile else {}
        if profiles.suits(found, session.backend):
            return found, ""
        return {}, (
            f"The provider profile “{name}” is not for {self.label_of(session.backend)},"
            " which works with its own account."
        )

    def identify_directory(self, session: Session) -> tuple[int, int]:
        """Device and inode of the session's directory. Raises `SpinneyError` where it is gone."""
        facts = _directory(worktree_in(self._store.state, session.worktree_id)).stat()
        return facts.st_dev, facts.st_ino

    def label_of(self, backend: str) -> str:
        """What people call the agents of a backend."""
        return self._models.catalog.label(backend)

    def note_models(self, session: Session, models: ModelList) -> None:
        """Remember the models that the session's agent has, so that people can choose."""
        state = self._store.state
        profile = profiles.name_for(state.preferences, _project_of(session, state))
        self._models.note(session.backend, models, profile)

    def note_mcp_servers(self, session: Session, names: Sequence[str]) -> None:
        """Remember the MCP servers that the session's agent knows, so that people can choose."""
        shown = [name for name in map(clean_line, names) if 0 < len(name) <= _LONGEST_NAME]
        self._in_background(self._note(session.worktree_id, shown[:_MOST_SERVERS]))

    async def _note(self, worktree_id: str, names: Sequence[str]) -> None:
        async with self._noting:  # the next one must see what this one saved
            state = self._store.state
            worktree = state.worktrees.get(worktree_id)
            project = state.projects.get(worktree.project_id) if worktree else None
            known = _known_servers(state.preferences, project)
            new = [name for name in names if name not in known]
            if project is not None:
                key = project.id
                await self._store.accept(lambda state: _noted(state, key, names, new))
            if new:
                before = self._store.state.preferences
                servers = {
                    "known_mcp_servers": _joined(before.known_mcp_servers, new),
                    # Those that nobody has chosen among yet are on.
                    "default_enabled_mcp_servers": _joined(before.default_enabled_mcp_servers, new),
                }
                await self._save(before.model_copy(update=servers))


def system_prompt(preferences: Preferences, project: Project | None) -> str:
    """What is added to the program's own: the person's, the project's, language, parallel work."""
    parallel = preferences.magic_prompts.get("parallel_execution") or PARALLEL_EXECUTION
    parts = (
        preferences.magic_prompts.get("global_system_prompt"),
        project.custom_system_prompt if project else None,
        f"Answer in this language: {preferences.ai_language}." if preferences.ai_language else None,
        parallel if preferences.parallel_execution_prompt_enabled else None,
    )
    return "\n\n".join(part for part in parts if part)


def mcp_off(preferences: Preferences, project: Project | None) -> frozenset[str]:
    """The MCP servers that were seen before and are not enabled; new ones are on until chosen."""
    of_project = project.enabled_mcp_servers if project else None
    enabled = layered(None, of_project, preferences.default_enabled_mcp_servers, [])
    return frozenset(_known_servers(preferences, project).difference(enabled))


def _known_servers(preferences: Preferences, project: Project | None) -> set[str]:
    return {*preferences.known_mcp_servers, *(project.known_mcp_servers if project else ())}


def _noted(state: State, project_id: str, names: Sequence[str], new: Sequence[str]) -> list[Event]:
    """The project with the servers that were seen in it; `new` are on where it has its own list."""
    project = state.projects.get(project_id)
    if project is None:
        return []
    changes: dict[str, list[str]] = {"known_mcp_servers": _joined(project.known_mcp_servers, names)}
    if project.enabled_mcp_servers is not None:
        changes["enabled_mcp_servers"] = _joined(project.enabled_mcp_servers, new)
    changed = project.model_copy(update=changes)
    return [] if changed == project else [ProjectUpdated(project=changed)]


def _joined(names: Iterable[str], others: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*names, *others]))


def _project_of(session: Session, state: State) -> Project | None:
    worktree = state.worktrees.get(session.worktree_id)
    return state.projects.get(worktree.project_id) if worktree else None


def _sub_agents(backend: str, preferences: Preferences) -> int | None:
    if backend != "backend_b":
        return None
    return preferences.codex_max_agent_threads if preferences.codex_multi_agent_enabled else 0


def _directory(worktree: Worktree) -> Path:
    if worktree.status == "removing":
        raise SpinneyError("The worktree is being removed.", "conflict")
    path = Path(worktree.path)
    if not path.is_dir():
        raise SpinneyError(
            f"The worktree's directory is gone: {path}. Restore it, or archive the worktree.",
            "not_found",
        )
    return path
