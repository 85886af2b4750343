"""What approving a plan means for settings: in its own session, and in a fresh one."""

import time
import uuid

from model.chat.handover import change_of_agent
from model.domain.resources import Session, WorkingMode
from model.preferences.precedence import model_for
from model.preferences.schema import Preferences


def plan_overrides(
    preferences: Preferences, mode: WorkingMode, session: Session
) -> dict[str, object]:
    """What approving a plan into `mode` changes in the session; `backend` only where it differs.

    An override's model belongs to the override's backend, or to the session's where none is set.
    """
    is_yolo = mode == "yolo"
    backend = preferences.yolo_backend if is_yolo else preferences.build_backend
    given = {
        "execution_mode": mode,
        "model": preferences.yolo_model if is_yolo else preferences.build_model,
        "thinking_level": (
            preferences.yolo_thinking_level if is_yolo else preferences.build_thinking_level
        ),
    }
    wanted: dict[str, object] = {key: value for key, value in given.items() if value is not None}
    if backend is not None and backend != session.backend:
        wanted.setdefault("model", model_for(backend, preferences))
        # The plan itself is what the other agent is told.
        wanted |= {**change_of_agent(session, backend), "handover": None}
    if "model" in wanted:
        wanted["answering_model"] = ""
    return wanted


def fresh_session(
    preferences: Preferences, mode: WorkingMode, session: Session, order: float
) -> Session:
    """A session in the same worktree that carries out the plan of this one and knows it alone."""
    changed = plan_overrides(preferences, mode, session)
    kept = {"model": session.model, "thinking_level": session.thinking_level}
    kept |= {"backend": session.backend}
    settings = {name: changed.get(name) or value for name, value in kept.items()}
    return Session.model_validate(
        {
            "id": str(uuid.uuid4()),
            "worktree_id": session.worktree_id,
            "name": session.name,
            # It is not to be called by the words that carry the plan.
            "named_by_user": True,
            "created_at": time.time(),
            "updated_at": time.time(),
            "execution_mode": mode,
            "order": order,
            **settings,
        }
    )
