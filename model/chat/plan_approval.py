"""The settings that approving a plan changes: in the same session, and in a new one."""

import time
import uuid

from model.chat.handover import build_agent_change
from model.domain.modes import WorkingMode
from model.domain.sessions import Session
from model.preferences.precedence import choose_model
from model.preferences.schema import Preferences
from model.state import State


def plan_overrides(
    preferences: Preferences, mode: WorkingMode, session: Session
) -> dict[str, object]:
    """Return what approving a plan in `mode` changes in the session; `backend` only if it differs.

    An override's model belongs to the override's backend, or to the session's if none is set.
    """
    is_yolo = mode == "yolo"
    backend = preferences.yolo_backend if is_yolo else preferences.build_backend
    overrides = {
        "execution_mode": mode,
        "model": preferences.yolo_model if is_yolo else preferences.build_model,
        "thinking_level": (
            preferences.yolo_thinking_level if is_yolo else preferences.build_thinking_level
        ),
    }
    updates: dict[str, object] = {
        key: value for key, value in overrides.items() if value is not None
    }
    if backend is not None and backend != session.backend:
        updates.setdefault("model", choose_model(backend, preferences))
        # The plan itself is the other agent's briefing.
        updates |= {**build_agent_change(session, backend), "handover": None}
    if "model" in updates:
        updates["answering_model"] = ""
    return updates


def make_plan_session(state: State, mode: WorkingMode, session: Session) -> Session:
    """Create a session in the worktree that carries out this session's plan and knows only that."""
    overrides = plan_overrides(state.preferences, mode, session)
    others = state.sessions_of(session.worktree_id, archived=True)
    inherited = {"model": session.model, "thinking_level": session.thinking_level}
    inherited |= {"backend": session.backend}
    settings = {name: overrides.get(name) or value for name, value in inherited.items()}
    return Session.model_validate(
        {
            "id": str(uuid.uuid4()),
            "worktree_id": session.worktree_id,
            "name": session.name,
            # It must not be named after the prompt that carries the plan.
            "named_by_user": True,
            "created_at": time.time(),
            "updated_at": time.time(),
            "execution_mode": mode,
            "order": max(other.order for other in others) + 1,
            **settings,
            "prompt": None if "backend" in overrides else session.prompt,
        }
    )
