"""The raw log on every backend: both directions of the turns of one session."""

import pytest

from tests.live.every_backend.conftest import Begin
from tests.live.every_backend.kinds import KINDS
from tests.live.every_backend.talk import Talk

pytestmark = [
    pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys(), scope="module"),
    pytest.mark.timeout(300),
]


async def lines_of(talk: Talk, direction: str) -> list[str]:
    text = (await talk.do("get_raw_log"))["text"]
    return [line[26:] for line in text.splitlines() if line[24:25] == direction]


async def test_the_raw_log_has_both_directions_of_only_its_sessions_turns(begin: Begin) -> None:
    talk, other = await begin(), await begin()
    changed = {"debug_mode_enabled": True}
    await talk.call("update_preferences", changes=changed)
    try:
        await talk.say("say: warp and weft")
        await other.say("say: heddle and reed")
        sent, said = await lines_of(talk, "\u2192"), await lines_of(talk, "\u2190")
        assert any("warp and weft" in line for line in sent)
        assert any("weft" in line for line in said)
        whole = (await talk.do("get_raw_log"))["text"]
        assert "heddle" not in whole and len(whole) < 250_000
        before = len(await lines_of(talk, "\u2190"))
    finally:
        await talk.call("update_preferences", changes={"debug_mode_enabled": False})
    await talk.say("say: one more")
    assert len(await lines_of(talk, "\u2190")) == before, "off holds for a running program"
