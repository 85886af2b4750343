"""What programs report for their turns: each is counted once, also after a fork and an undo."""

import pytest

from tests.live.every_backend.conftest import Begin
from tests.live.every_backend.kinds import KINDS
from tests.live.every_backend.talk import Json

pytestmark = [
    pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys(), scope="module"),
    pytest.mark.timeout(300),
]


def subtract(later: Json, earlier: Json) -> Json:
    return {name: later[name] - earlier[name] for name in later}


async def test_each_turn_is_counted_once_also_after_a_fork_and_an_undo(begin: Begin) -> None:
    """The stubs report the same tokens for equal answers, so equal turns must have equal rows."""
    talk = await begin()
    once = (await talk.say("say: one"))["usage"]
    twice = (await talk.say("say: one"))["usage"]
    rows = (await talk.do("get_usage", by="turn"))["rows"]
    assert [row["usage"] for row in rows] == [subtract(twice, once), once]
    costs = [row["cost_usd"] for row in rows]
    undone = (await talk.do("list_turns"))[-1]
    fork = await talk.do("fork_session")
    await talk.call("undo_turn", turnId=undone["turn_id"], what="conversation")
    thrice = (await talk.say("say: one"))["usage"]
    rows = (await talk.do("get_usage", by="turn"))["rows"]
    assert rows[0]["usage"] == subtract(thrice, twice)
    costs.append(rows[0]["cost_usd"])
    original, talk.session = talk.session["id"], fork
    forked = await talk.say("say: one")
    [row] = (await talk.do("get_usage", by="turn"))["rows"]
    assert row["usage"] == forked["usage"]
    costs.append(row["cost_usd"])
    if costs[0] is not None:  # of turns, not of the conversation so far
        assert max(costs) < 2 * min(costs)
    project = talk.worktree["project_id"]
    # With the short texts of the project: an agent that cannot fork starts over with a summary.
    sums = (await talk.call("get_usage", by="session", projectId=project))["rows"]
    found = {row["key"]: (row["usage"], row["turns"]) for row in sums if row["key"]}
    assert found == {original: (thrice, 3), fork["id"]: (forked["usage"], 1)}
