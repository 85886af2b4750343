"""Precedence of settings: the session's choice, the project's setting, the user's preference."""

from typing import Final, TypeVar

from model.agents.catalog import BUILT_IN, DEMO, Catalog
from model.domain.modes import EFFORTS, Effort, ThinkingLevel
from model.domain.projects import Project
from model.preferences.schema import Preferences

T = TypeVar("T")

_EFFORT_NAMES: Final = {
    "backend_a": "default_effort_level",
    "backend_b": "default_codex_reasoning_effort",
}
"""The effort preferences; at their default, the agent's own configuration takes precedence."""

_THINKING_EFFORT: Final[dict[ThinkingLevel, Effort]] = {
    "off": "low",
    "think": "medium",
    "megathink": "high",
    "ultrathink": "max",
}


def first_set(session: T | None, project: T | None, preference: T | None, default: T) -> T:
    """Return the first value that is set, from the session down to the built-in default."""
    values = (value for value in (session, project, preference) if value is not None)
    return next(values, default)


def choose_backend(
    project: Project | None,
    preferences: Preferences,
    session: str | None = None,
    *,
    catalog: Catalog = BUILT_IN,
    demo: bool = False,
) -> str:
    """The backend of a new session in `project`; `session` is the requested one.

    A project or preference backend that `catalog` does not contain is ignored. With `demo`, the
    demo agent replaces the preference.
    """
    of_project = project.default_backend if project else None
    preferred = DEMO.name if demo else preferences.default_backend
    return first_set(
        session, _if_known(of_project, catalog), _if_known(preferred, catalog), "backend_a"
    )


def _if_known(backend: str | None, catalog: Catalog) -> str | None:
    return None if backend is None or catalog.backend(backend) is None else backend


def choose_model(backend: str, preferences: Preferences, session: str | None = None) -> str:
    """The model of a new session with `backend`; `session` is the requested one.

    Empty for an agent of `agents.toml`, which chooses its own.
    """
    match backend:
        case "backend_b":
            preferred: str = preferences.selected_codex_model
        case "backend_c":
            preferred = preferences.selected_opencode_model
        case "demo":
            preferred = DEMO.models[0].name
        case _ if BUILT_IN.backend(backend) is None:
            preferred = ""
        case _:
            preferred = preferences.selected_model
    return first_set(session or None, None, preferred, "model_1")


def max_own_effort(
    backend: str, thinking: ThinkingLevel, preferences: Preferences
) -> Effort | None:
    """The limit for the effort in the agent's own configuration; `None` if a preference is set."""
    name = _EFFORT_NAMES.get(backend)
    if name is None or getattr(preferences, name) != Preferences.model_fields[name].default:
        return None
    return _THINKING_EFFORT[thinking]


def choose_effort(backend: str, thinking: ThinkingLevel, preferences: Preferences) -> Effort:
    """The effort of a model: that of the session's thinking level, limited by the preference."""
    preferred: Effort = getattr(preferences, _EFFORT_NAMES.get(backend, "default_effort_level"))
    return min(preferred, _THINKING_EFFORT[thinking], key=EFFORTS.index)
