"""Cleanup of runs that were open when Spinney was killed."""

from model.domain.events.messages import MessageFailed
from model.domain.events.sessions import SessionUpdated
from model.domain.sessions import LastRun
from model.store.store import Store


def recover(store: Store) -> None:
    """Close the messages and runs that a killed Spinney left open. Called once, at startup."""
    state = store.state
    for message in state.streaming.values():
        store.record(
            MessageFailed(
                message_id=message.id,
                session_id=message.session_id,
                error="Spinney exited while this was being written. Send a message to continue.",
                error_type="internal_error",
            )
        )
    for session in state.interruptible_sessions():
        run = LastRun(status="interrupted", stop_reason="interrupted")
        updates = {
            "status": "idle",
            "waiting_for": None,
            "request": None,
            "turn_mode": None,
            "last_run": run.model_dump(mode="json"),
        }
        store.record(SessionUpdated(session_id=session.id, updates=updates))
