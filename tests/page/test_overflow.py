"""No view is wider than the screen, from 320 to 2560 pixels; wide parts scroll by themselves."""

from typing import Any

import pytest
from playwright.async_api import expect

from model.backends import agent_events
from model.domain.usage import Usage
from tests.page.browser import VIEWS, Screen
from tests.page.conftest import OpenPage
from tests.page.in_process import InProcessServer, begin_turn
from tests.page.user_input import Pointer, SessionPage
from tests.server.conftest import Socket

WIDTHS = (320, 390, 800, 1280, 2560)

WORD = "anexceptionallylongwordwithoutanyplacetobreakit" * 8

PROSE = f"""# {WORD}

{WORD} and `{WORD}` and [{WORD}](https://example.org/{WORD})

```python
{WORD} = "{WORD}"
```

| a | b | c |
| - | - | - |
| {WORD} | {WORD} | {WORD} |

- {WORD}
  - {WORD}

> {WORD}
"""

TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth;
  const scrolled = document.documentElement.scrollWidth;
  return scrolled > width ? `${scrolled} > ${width}` : "";
}"""

OVERFLOWING_PARTS = """(card) => {
  const edge = card.getBoundingClientRect().right - parseFloat(getComputedStyle(card).paddingRight);
  const isOut = (part) => {
    const range = document.createRange();
    range.selectNodeContents(part);
    const text = part.matches("p, h3") ? range.getBoundingClientRect().right : 0;
    return Math.max(text, part.getBoundingClientRect().right) > edge + 1;
  };
  return [...card.children].filter(isOut).map((part) => part.outerHTML);
}"""
"""The parts of a card that extend beyond its right edge."""

BROKEN_WORDS = """() => [...document.querySelectorAll("button, a.button")].flatMap((button) => {
  const nodes = document.createTreeWalker(button, NodeFilter.SHOW_TEXT);
  const broken = [];
  while (nodes.nextNode())
    for (const found of nodes.currentNode.data.matchAll(/\\w{2,12}/g)) {
      const range = document.createRange();
      range.setStart(nodes.currentNode, found.index);
      range.setEnd(nodes.currentNode, found.index + found[0].length);
      if (new Set([...range.getClientRects()].map((part) => part.top)).size > 1)
        broken.push(found[0]);
    }
  return broken;
})"""
"""Short words on buttons that are broken over two lines."""


@pytest.fixture
def server(in_process_server: InProcessServer) -> InProcessServer:
    return in_process_server


@pytest.mark.short
@pytest.mark.parametrize(
    "width",
    [390, *(pytest.param(width, marks=pytest.mark.longer) for width in WIDTHS if width != 390)],
)
async def test_no_view_scrolls_sideways(
    in_process_server: InProcessServer,
    client: Socket,
    open_page: OpenPage,
    session: Any,
    project: Any,
    width: int,
) -> None:
    await client.call("update_session", sessionId=session["id"], name=WORD[:90])
    puppet = await begin_turn(in_process_server, client, session, WORD)
    puppet.say(
        agent_events.TextDelta("said", PROSE),
        agent_events.ToolUse("tool", "bash", {"command": WORD}),
    )
    puppet.say(
        agent_events.ToolResult("tool", WORD), agent_events.TurnFinished("end_turn", Usage())
    )
    page = await open_page(
        f"/session/{session['id']}", screen=Screen(width, 800, touch=width < 800)
    )
    await expect(page.locator(".message")).to_have_count(2)
    await SessionPage(Pointer(page)).wait_until_idle()
    await page.locator("details.tool").evaluate("(fold) => { fold.open = true; }")
    puppet.say(
        agent_events.TurnStarted(),
        agent_events.PermissionRequested("may", "bash", {"command": WORD}, WORD),
    )
    await expect(page.locator(".request")).to_be_visible()
    assert await page.locator(".request").evaluate(OVERFLOWING_PARTS) == []
    ids = {
        "session": session["id"],
        "worktree": session["worktree_id"],
        "diff": session["worktree_id"],
        "project": project["id"],
        "conflicts": project["id"],
        "landing": project["id"],
        "pull-request": session["worktree_id"],
    }
    overflows = {}
    for view in VIEWS:
        await page.evaluate("(hash) => { location.hash = hash; }", f"#/{view}/{ids.get(view, '')}")
        await expect(page.locator(f'body[data-view="{view}"]')).to_be_attached()
        await expect(page.get_by_text("loading…", exact=True)).to_have_count(0)
        if overflow := await page.evaluate(TOO_WIDE):
            overflows[view] = overflow
    assert overflows == {}


async def test_words_on_buttons_are_not_broken(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    puppet = await begin_turn(in_process_server, client, session, "a plan, please")
    puppet.say(agent_events.PlanProposed("plan", "1. Look around"))
    page = await open_page("/needs", screen=Screen(390, 844, touch=True))
    await expect(page.get_by_role("button", name="Discuss")).to_be_visible()
    assert await page.evaluate(BROKEN_WORDS) == []
