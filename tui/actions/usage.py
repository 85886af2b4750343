"""What agents use, and the budgets of sessions."""

from model.api.usage import set_budget
from model.base.amounts import format_cost
from model.base.errors import SpinneyError
from tui.desk import Desk
from tui.screens.dialog import AskText
from tui.screens.usage import Usage


async def show_usage(desk: Desk) -> None:
    """Show what agents use: limits, days, models, projects and sessions."""
    await desk.ask(Usage(desk))


async def set_budget_of_session(desk: Desk) -> None:
    """Ask for the budget of the open session."""
    session = desk.session
    if session is None:
        desk.say("Open a session first.")
        return
    spent = session.cost.usd if session.cost else 0.0
    typed = await desk.ask(
        AskText(
            "Budget of the session, in dollars",
            "" if session.budget_usd is None else f"{session.budget_usd:g}",
            sentence=f"It has used {format_cost(spent)}. At its budget it pauses after the turn.",
            empty="as in the preferences",
        )
    )
    if typed is not None:
        await set_session_budget(desk, typed)


async def set_session_budget(desk: Desk, typed: str) -> None:
    """Set the budget of the open session: dollars, 0 for no limit, nothing for the preference."""
    session = desk.session
    if session is None:
        desk.say("Open a session first.")
        return
    usd = parse_dollars(typed)
    budget = await desk.client.call(set_budget, usd=usd, session_id=session.id)
    if budget is None:
        desk.say("The session has no budget.")
    else:
        limit, spent = format_cost(budget.limit_usd), format_cost(budget.spent_usd)
        desk.say(f"The session may use {limit}; it has used {spent}.")


def parse_dollars(typed: str) -> float | None:
    """Return a budget as typed; `None` if nothing was. Raises `invalid_request`."""
    text = typed.strip().removeprefix("$").replace(",", "")
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise SpinneyError(
            f"Not a number of dollars: {typed[:40]}. Type one such as 5 or 2.50.", "invalid_request"
        ) from None
