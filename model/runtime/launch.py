"""Resolves an agent's launch parameters from session, project and user settings."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from model.backends.base import Launch, Settings
from model.backends.model_list_cache import ModelListCache
from model.backends.model_lists import ModelList
from model.backends.traffic import TrafficRecorder
from model.base.errors import SpinneyError, worktree_directory_missing
from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.projects import ProjectUpdated
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.preferences import profiles
from model.preferences.precedence import choose_effort, first_set, max_own_effort
from model.preferences.prompts import find_prompt_text
from model.preferences.schema import Preferences
from model.state import State
from model.store.store import Store
from model.worktrees import require_worktree

_MAX_NAME_LENGTH: Final = 200
_MAX_SERVERS: Final = 200
"""MCP servers that are remembered; a longer list means that the program is broken."""


class LayeredLaunchResolver:
    """Resolves launch parameters from the layers of settings.

    `environment_of` returns the environment of a worktree's programs, `make_recorder` the recorder
    of a session, given the profile whose keys it masks. `save_preferences` saves changed
    preferences, in a task started with `run_in_background`.
    """

    def __init__(
        self,
        store: Store,
        models: ModelListCache,
        environment_of: Callable[[Worktree], Mapping[str, str]],
        make_recorder: Callable[[str, Mapping[str, Any]], TrafficRecorder],
        save_preferences: Callable[[Preferences], Awaitable[object]],
        run_in_background: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._store = store
        self._models = models
        self._environment_of = environment_of
        self._make_recorder = make_recorder
        self._save_preferences = save_preferences
        self._run_in_background = run_in_background
        self._server_lock = asyncio.Lock()

    def resolve_settings(self, session: Session) -> Settings:
        """Return the session's settings in the form that its program takes."""
        state = self._store.state
        preferences = state.preferences
        thinking = session.thinking_level
        name = _profile_name(session, state)
        for profile in preferences.custom_cli_profiles:
            if profile.name == name and profile.supports_thinking is False:
                thinking = "off"
        model, is_preset = self._models.resolve_model(session.backend, session.model, name)
        return Settings(
            mode=session.execution_mode,
            model=model,
            model_is_preset=is_preset,
            thinking=thinking,
            effort=choose_effort(session.backend, thinking, preferences),
            user_effort_limit=max_own_effort(session.backend, thinking, preferences),
            web_in_plan=preferences.allow_web_tools_in_plan_mode,
        )

    async def resolve_launch(self, session: Session) -> Launch:
        """Return the launch parameters. Raises `SpinneyError` if no agent can run there."""
        profile, note = await self._resolve_profile(session)
        state = self._store.state
        worktree = require_worktree(state, session.worktree_id)
        project = state.projects.get(worktree.project_id)
        return Launch(
            session_id=session.id,
            worktree=_existing_directory(worktree),
            settings=self.resolve_settings(session),
            resume_token=session.resume_token or None,
            fork_at=session.fork_at or None,
            system_prompt=build_system_prompt(state.preferences, project),
            environment=self._environment_of(worktree),
            disabled_mcp_servers=disabled_mcp_servers(state.preferences, project),
            profile=profile,
            note=note,
            can_use_browser=state.preferences.chrome_enabled,
            max_sub_agents=_sub_agent_limit(session.backend, state.preferences),
            recorder=self._make_recorder(session.id, profile),
        )

    async def _resolve_profile(self, session: Session) -> tuple[Mapping[str, Any], str]:
        """Return the session's provider profile, with a note if it is for another agent."""
        state = self._store.state
        name = _profile_name(session, state)
        profile = profiles.find_profile(name, state.preferences)
        settings = await asyncio.to_thread(profiles.read_settings, profile) if profile else {}
        if profiles.is_compatible(settings, session.backend):
            return settings, ""
        return {}, (
            f"The provider profile '{name}' is not for {self.label_of(session.backend)},"
            " which uses its own account instead."
        )

    def identify_directory(self, session: Session) -> tuple[int, int]:
        """Return device and inode of the session's directory. Raises `SpinneyError` if missing."""
        facts = _existing_directory(require_worktree(self._store.state, session.worktree_id)).stat()
        return facts.st_dev, facts.st_ino

    def label_of(self, backend: str) -> str:
        """Return the display name of a backend's agents."""
        return self._models.catalog.label(backend)

    def note_models(self, session: Session, models: ModelList) -> None:
        """Save the list of models that the session's agent offers, for users to choose from."""
        state = self._store.state
        profile = _profile_name(session, state)
        self._models.update(session.backend, models, profile)

    def note_mcp_servers(self, session: Session, names: Sequence[str]) -> None:
        """Save the MCP servers that the session's agent knows, for users to choose from."""
        clean_names = [name for name in map(clean_line, names) if 0 < len(name) <= _MAX_NAME_LENGTH]
        self._run_in_background(
            self._remember_servers(session.worktree_id, clean_names[:_MAX_SERVERS])
        )

    async def _remember_servers(self, worktree_id: str, names: Sequence[str]) -> None:
        async with self._server_lock:  # the next call must see what this one saves
            state = self._store.state
            worktree = state.worktrees.get(worktree_id)
            project = state.projects.get(worktree.project_id) if worktree else None
            known_servers = _known_servers(state.preferences, project)
            new = [name for name in names if name not in known_servers]
            if project is not None:
                key = project.id
                await self._store.accept(lambda state: _make_project_events(state, key, names, new))
            if new:
                preferences = self._store.state.preferences
                updates = {
                    "known_mcp_servers": _merge_names(preferences.known_mcp_servers, new),
                    # New servers are on until the user chooses.
                    "default_enabled_mcp_servers": _merge_names(
                        preferences.default_enabled_mcp_servers, new
                    ),
                }
                await self._save_preferences(preferences.model_copy(update=updates))


def build_system_prompt(preferences: Preferences, project: Project | None) -> str:
    """Return what is appended to the program's prompt: user, project, language, parallel work."""
    parallel = find_prompt_text("parallel_execution", preferences)
    parts = (
        find_prompt_text("global_system_prompt", preferences),
        project.custom_system_prompt if project else None,
        f"Answer in this language: {preferences.ai_language}." if preferences.ai_language else None,
        parallel if preferences.parallel_execution_prompt_enabled else None,
    )
    return "\n\n".join(part for part in parts if part)


def disabled_mcp_servers(preferences: Preferences, project: Project | None) -> frozenset[str]:
    """Return the known MCP servers that are not enabled; new ones are on until the user chooses."""
    project_servers = project.enabled_mcp_servers if project else None
    enabled = first_set(None, project_servers, preferences.default_enabled_mcp_servers, [])
    return frozenset(_known_servers(preferences, project).difference(enabled))


def _known_servers(preferences: Preferences, project: Project | None) -> set[str]:
    return {*preferences.known_mcp_servers, *(project.known_mcp_servers if project else ())}


def _make_project_events(
    state: State, project_id: str, names: Sequence[str], new: Sequence[str]
) -> list[Event]:
    """Add the servers seen in the project; `new` ones are enabled if it has its own list."""
    project = state.projects.get(project_id)
    if project is None:
        return []
    changes: dict[str, list[str]] = {
        "known_mcp_servers": _merge_names(project.known_mcp_servers, names)
    }
    if project.enabled_mcp_servers is not None:
        changes["enabled_mcp_servers"] = _merge_names(project.enabled_mcp_servers, new)
    updated = project.model_copy(update=changes)
    return [] if updated == project else [ProjectUpdated(project=updated)]


def _merge_names(names: Iterable[str], others: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*names, *others]))


def _profile_name(session: Session, state: State) -> str:
    project = _project_of(session, state)
    return profiles.resolve_name(state.preferences, project, session.prompt or "")


def _project_of(session: Session, state: State) -> Project | None:
    worktree = state.worktrees.get(session.worktree_id)
    return state.projects.get(worktree.project_id) if worktree else None


def _sub_agent_limit(backend: str, preferences: Preferences) -> int | None:
    if backend != "backend_b":
        return None
    return preferences.codex_max_agent_threads if preferences.codex_multi_agent_enabled else 0


def _existing_directory(worktree: Worktree) -> Path:
    if worktree.status == "removing":
        raise SpinneyError("The worktree is being removed.", "conflict")
    path = Path(worktree.path)
    if not path.is_dir():
        raise worktree_directory_missing(worktree.path)
    return path
