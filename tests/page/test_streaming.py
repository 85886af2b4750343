"""An answer is rendered the same however it arrives: in any pieces, joined late, or read later."""

import random
from typing import Any

import pytest
from playwright.async_api import Page, expect

from model.backends import agent_events
from model.domain.usage import Usage
from tests.page.conftest import OpenPage
from tests.page.hostile import MARKDOWN
from tests.page.in_process import InProcessServer, begin_turn
from tests.page.user_input import Pointer, SessionPage
from tests.server.conftest import Socket

PROSE = """# A plan of sorts

Some **words**, *some* `code`, ~~gone~~ and a [link][1] — then https://example.org/a?b=c&d.

- one
- two
  - inside

    with a paragraph
- [ ] three

1. first
2. second
   ```python
   def weave(loom: str) -> int:
       return len(loom)  # all of it
   ```
7. seventh

```js
const a = `${"text"}`;
```

| a | b | c |
| - | -: | :-: |
| 1 | `2` | **3** |
| x \\| y | | z |

> said by
> > another user
> - in a list

Setext heading
==============

***

~~~
a fence that
```
holds another
~~~
\tindented code

Last line with two spaces\x20\x20
and a break\\
and an end

[1]: https://example.org "a title"
"""

AMBIGUOUS_ENDS = (
    "`",
    "```",
    "~~~",
    "- ",
    "1",
    "1.",
    "|",
    "> ",
    "#",
    "\n",
    "*",
    "**",
    "[",
    "\\",
    "&",
    "    ",
)
"""Ends of a text whose Markdown meaning depends on what follows."""


@pytest.fixture
def server(in_process_server: InProcessServer) -> InProcessServer:
    return in_process_server


def split_randomly(text: str, chance: random.Random) -> list[str]:
    """The text in pieces of random size."""
    pieces = []
    while text:
        size = chance.choice((1, 1, 2, 3, 8, 40))
        pieces.append(text[:size])
        text = text[size:]
    return pieces


async def read_conversation(page: Page) -> str:
    """The HTML of the conversation."""
    await SessionPage(Pointer(page)).wait_until_idle()
    return await page.locator(".message").evaluate_all(
        "(all) => all.map((one) => one.outerHTML).join('\\n')"
    )


@pytest.mark.parametrize("seed", range(4))
async def test_pages_opened_before_during_and_after_a_turn_show_the_same(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any, seed: int
) -> None:
    chance = random.Random(seed)
    place = f"/session/{session['id']}"
    watched = await open_page(place)
    puppet = await begin_turn(in_process_server, client, session)
    texts = [PROSE, *MARKDOWN, *(f"an end {end}" for end in AMBIGUOUS_ENDS)]
    chance.shuffle(texts)
    for number, text in enumerate(texts):
        kind = "thinking" if number % 9 == 4 else "text"
        for piece in split_randomly(text, chance):
            puppet.say(agent_events.TextDelta(f"block {number}", piece, kind))
        if number % 5 == 2:
            tool = f"tool {number}"
            puppet.say(agent_events.ToolUse(tool, "bash", {"command": "true"}))
            puppet.say(agent_events.ToolUse(f"{tool} below", "read", {"file_path": "a"}, tool))
            puppet.say(agent_events.ToolResult(tool, "done", number % 2 == 0))
        if number == len(texts) // 2:
            puppet.say(agent_events.TextDelta("half-way", "half-way"))
            await expect(watched.locator(".message").last).to_contain_text("half-way")
            later = await open_page(place)
            await expect(later.locator(".pulse")).to_be_visible()
    puppet.say(agent_events.TextFinal("block 0", texts[0] + "\n\nreplaced in the end"))
    puppet.say(agent_events.TurnFinished("end_turn", Usage()))
    await expect(watched.locator(".message").last).to_contain_text("replaced in the end")
    read = await open_page(place)
    await expect(read.locator(".message")).to_have_count(2)
    assert await read_conversation(watched) == await read_conversation(read)
    assert await read_conversation(later) == await read_conversation(read)


async def test_a_page_opened_during_a_turn_shows_the_text_so_far(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    place = f"/session/{session['id']}"
    puppet = await begin_turn(in_process_server, client, session)
    pages: list[Page] = []
    for number, piece in enumerate(PROSE.split("\n\n")):
        if number % 3 == 0:
            pages.append(await open_page(place))
        puppet.say(agent_events.TextDelta("block", f"{piece}\n\nmark {number}\n\n"))
        shown = []
        for page in pages:
            await expect(page.locator(".prose")).to_contain_text(f"mark {number}")
            shown.append(await page.locator(".prose").evaluate("(element) => element.innerHTML"))
        assert len(set(shown)) == 1
    puppet.say(agent_events.TurnFinished("end_turn", Usage()))


async def test_the_scroll_position_stays_while_an_answer_grows(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}")
    puppet = await begin_turn(in_process_server, client, session)
    puppet.say(*(agent_events.TextDelta("first", f"line {number}\n\n") for number in range(200)))
    transcript = page.get_by_role("log", name="Conversation")
    top = "(element) => element.scrollTop"
    end = "(element) => element.scrollHeight - element.scrollTop - element.clientHeight"
    await expect(page.locator(".prose")).to_contain_text("line 199")
    await page.evaluate("() => new Promise(requestAnimationFrame)")
    assert await transcript.evaluate(end) < 2
    await Pointer(page).scroll(transcript, -10_000)
    await expect(page.get_by_role("button", name="Go to the end")).to_be_visible()
    puppet.say(agent_events.ToolUse("tool", "bash", {"command": "true"}))
    puppet.say(*(agent_events.TextDelta("second", f"row {number}\n\n") for number in range(200)))
    await expect(page.locator(".prose").last).to_contain_text("row 199")
    assert await transcript.evaluate(top) == 0
    await page.get_by_role("button", name="New messages").click()
    assert await transcript.evaluate(end) < 2
    puppet.say(
        agent_events.TextDelta("second", "the last\n\n"),
        agent_events.TurnFinished("end_turn", Usage()),
    )
    await expect(page.locator(".prose").last).to_contain_text("the last")
    await expect(page.locator(".pulse")).to_have_count(0)
    await page.evaluate("() => new Promise(requestAnimationFrame)")
    assert await transcript.evaluate(end) < 2


GROW_BEFORE_SCROLL_EVENT = """(scroller) => {
  const more = document.createElement("p");
  more.style.height = "900px";
  scroller.querySelector(".messages").append(more);
  scroller.dispatchEvent(new Event("scroll"));
}"""
"""Adds content and then fires a scroll event.

That happens when content outside the viewport turns out to be higher than estimated.
"""


async def test_a_page_scrolled_to_the_end_stays_there_when_the_content_grows(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}")
    puppet = await begin_turn(in_process_server, client, session)
    puppet.say(*(agent_events.TextDelta("first", f"line {number}\n\n") for number in range(200)))
    puppet.say(agent_events.TurnFinished("end_turn", Usage()))
    await expect(page.locator(".prose")).to_contain_text("line 199")
    await expect(page.locator(".pulse")).to_have_count(0)
    transcript = page.get_by_role("log", name="Conversation")
    await transcript.evaluate(GROW_BEFORE_SCROLL_EVENT)
    for _ in range(2):
        await page.evaluate("() => new Promise(requestAnimationFrame)")
    below = "(element) => element.scrollHeight - element.scrollTop - element.clientHeight"
    assert await transcript.evaluate(below) < 2
    await expect(page.get_by_role("button", name="Go to the end")).to_be_hidden()


async def test_an_open_fold_stays_open_while_an_answer_grows(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}")
    puppet = await begin_turn(in_process_server, client, session)
    puppet.say(agent_events.ToolUse("one", "bash", {"command": "seq 3"}))
    fold = page.locator("details.tool")
    await fold.locator("summary").click()
    await expect(fold.locator("pre").first).to_have_text("seq 3")
    puppet.say(agent_events.ToolUse("below", "read", {"file_path": "a"}, "one"))
    puppet.say(
        agent_events.ToolResult("one", "1\n2\n3"), agent_events.TextDelta("said", "There you are.")
    )
    await expect(fold.locator(".output").first).to_contain_text("3")
    puppet.say(agent_events.TurnFinished("end_turn", Usage()))
    await expect(page.locator(".pulse")).to_have_count(0)
    await expect(fold.locator(".output").first).to_be_visible()
