"""Which value holds where several may: the session's choice, the project's, the person's."""

from typing import Final, TypeVar

from model.agents.catalog import BUILT_IN, DEMO, Catalog
from model.domain.resources import EFFORTS, Effort, Project, ThinkingLevel
from model.preferences.schema import Preferences

T = TypeVar("T")

_EFFORT_NAMES: Final = {
    "backend_a": "default_effort_level",
    "backend_b": "default_codex_reasoning_effort",
}
"""The preferences of effort, each of which stands behind the configuration of the agent's own."""

_OF_THINKING: Final[dict[ThinkingLevel, Effort]] = {
    "off": "low",
    "think": "medium",
    "megathink": "high",
    "ultrathink": "max",
}


def layered(session: T | None, project: T | None, preference: T | None, default: T) -> T:
    """The highest layer that says something, from the session down to what is built in."""
    chosen = (value for value in (session, project, preference) if value is not None)
    return next(chosen, default)


def backend_for(
    project: Project | None,
    preferences: Preferences,
    session: str | None = None,
    *,
    catalog: Catalog = BUILT_IN,
    demo: bool = False,
) -> str:
    """The backend of a new session in `project`, where `session` is what was asked for.

    A backend of the project or person that `catalog` does not know counts as none. With `demo`,
    the demo agent takes the place of the person's preference.
    """
    of_project = project.default_backend if project else None
    of_person = DEMO.name if demo else preferences.default_backend
    return layered(session, _known(of_project, catalog), _known(of_person, catalog), "backend_a")


def _known(backend: str | None, catalog: Catalog) -> str | None:
    return None if backend is None or catalog.backend(backend) is None else backend


def model_for(backend: str, preferences: Preferences, session: str | None = None) -> str:
    """The model of a new session with `backend`, where `session` is what was asked for.

    Empty for an agent of the person's own, which chooses itself.
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
    return layered(session or None, None, preferred, "model_1")


def most_of_own_effort(
    backend: str, thinking: ThinkingLevel, preferences: Preferences
) -> Effort | None:
    """The most effort of a person's own configuration of the agent, where they prefer none here."""
    name = _EFFORT_NAMES.get(backend)
    if name is None or getattr(preferences, name) != Preferences.model_fields[name].default:
        return None
    return _OF_THINKING[thinking]


def effort_for(backend: str, thinking: ThinkingLevel, preferences: Preferences) -> Effort:
    """How hard a model works: as much as the session may think, at most what the person prefers."""
    preferred: Effort = getattr(preferences, _EFFORT_NAMES.get(backend, "default_effort_level"))
    return min(preferred, _OF_THINKING[thinking], key=EFFORTS.index)
