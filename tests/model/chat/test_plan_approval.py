"""The settings that preferences give to approved plans and new sessions."""

from typing import Any

import pytest

from model.chat.plan_approval import make_plan_session, plan_overrides
from model.domain.modes import WorkingMode
from model.domain.sessions import Session
from model.preferences.precedence import choose_model
from model.preferences.schema import Preferences
from model.state import State

SESSION = Session(
    id="s", worktree_id="w", name="One", created_at=1, backend="backend_a", model="model_1"
)


@pytest.mark.parametrize(
    ("mode", "key", "value", "field"),
    [
        ("build", "build_model", "model_3", "model"),
        ("yolo", "yolo_model", "model_3", "model"),
        ("build", "build_backend", "backend_b", "backend"),
        ("yolo", "yolo_backend", "backend_b", "backend"),
        ("build", "build_thinking_level", "off", "thinking_level"),
        ("yolo", "yolo_thinking_level", "off", "thinking_level"),
    ],
)
def test_a_preference_holds_over_the_session(
    mode: WorkingMode, key: str, value: str, field: str
) -> None:
    chosen: dict[str, Any] = {key: value}
    preferences = Preferences.model_validate(chosen)
    other: WorkingMode = "yolo" if mode == "build" else "build"
    assert plan_overrides(preferences, mode, SESSION)[field] == value
    assert field not in plan_overrides(preferences, other, SESSION)
    state = State(sessions={SESSION.id: SESSION}, preferences=preferences)
    assert getattr(make_plan_session(state, mode, SESSION), field) == value
    unchanged = make_plan_session(state, other, SESSION)
    assert getattr(unchanged, field) == getattr(SESSION, field)
    assert unchanged.order > SESSION.order


@pytest.mark.parametrize(
    ("backend", "key", "value"),
    [
        ("backend_a", "selected_model", "model_4"),
        ("backend_b", "selected_codex_model", "codex_model_4"),
        ("backend_c", "selected_opencode_model", "own/model"),
    ],
)
def test_a_new_session_has_the_agents_model(backend: str, key: str, value: str) -> None:
    chosen: dict[str, Any] = {key: value}
    assert choose_model(backend, Preferences.model_validate(chosen)) == value
    assert choose_model(backend, Preferences(), "asked-for") == "asked-for"
