"""Carries out what a one-time token stands for; no command, as the token is all that it takes."""

from typing import TYPE_CHECKING, Final

from model.access.actions import OneTimeAction

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_DONE: Final = {
    "allow": "Allowed once.",
    "deny": "Denied.",
    "approve": "Approved: the plan is carried out in build mode.",
    "answer": "Answered.",
}


async def use_token(workspace: "Workspace", token: str) -> str:
    """Do what the token stands for; returns a sentence. Raises `not_found` and `conflict`."""
    action = await workspace.grants.actions.take(token)
    try:
        await _perform(workspace, action)
    except BaseException:
        await workspace.grants.actions.put_back(action)
        raise
    return _DONE[action.decision]


async def _perform(workspace: "Workspace", action: OneTimeAction) -> None:
    decisions, session_id, request_id = workspace.decisions, action.session_id, action.request_id
    match action.decision:
        case "allow":
            await decisions.permit(session_id, request_id, "allow")
        case "deny":
            await decisions.permit(session_id, request_id, "deny")
        case "approve":
            await decisions.approve(session_id, "build", None, request_id)
        case "answer":
            await decisions.answer(session_id, action.answer, request_id)
