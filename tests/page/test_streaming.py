"""However an answer arrives, the page shows the same: cut anywhere, joined late, or read."""

import random
from typing import Any

import pytest
from playwright.async_api import Page, expect

from model.backends import base
from model.domain.resources import Usage
from tests.page.conftest import OpenPage
from tests.page.hostile import MARKDOWN
from tests.page.person import Conversation, Pointer
from tests.page.stage import Stage
from tests.puppet import Puppet
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
> > somebody else
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

HELD_BACK = (
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
"""Ends that could still become something else."""


@pytest.fixture
def served(stage: Stage) -> Stage:
    """What the pages of this module are of."""
    return stage


def pieces(text: str, chance: random.Random) -> list[str]:
    """The text, cut at random."""
    cut = []
    while text:
        size = chance.choice((1, 1, 2, 3, 8, 40))
        cut.append(text[:size])
        text = text[size:]
    return cut


async def begin(stage: Stage, other: Socket, session: Any) -> Puppet:
    await other.call("send_chat_message", sessionId=session["id"], message="go")
    puppet = await stage.backend.newest()
    await puppet.hears("send")
    return puppet


async def drawn(page: Page) -> str:
    """All of the conversation as it stands in the page."""
    await Conversation(Pointer(page)).idle()
    return await page.locator(".message").evaluate_all(
        "(all) => all.map((one) => one.outerHTML).join('\\n')"
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
async def test_a_page_that_watched_one_that_came_later_and_one_that_reads_it_show_the_same(
    stage: Stage, other: Socket, open_page: OpenPage, session: Any, seed: int
) -> None:
    chance = random.Random(seed)
    place = f"/session/{session['id']}"
    watched = await open_page(place)
    puppet = await begin(stage, other, session)
    texts = [PROSE, *MARKDOWN, *(f"an end {end}" for end in HELD_BACK)]
    chance.shuffle(texts)
    for number, text in enumerate(texts):
        kind = "thinking" if number % 9 == 4 else "text"
        for piece in pieces(text, chance):
            puppet.say(base.TextDelta(f"block {number}", piece, kind))
        if number % 5 == 2:
            tool = f"tool {number}"
            puppet.say(base.ToolUse(tool, "bash", {"command": "true"}))
            puppet.say(base.ToolUse(f"{tool} below", "read", {"file_path": "a"}, tool))
            puppet.say(base.ToolResult(tool, "done", number % 2 == 0))
        if number == len(texts) // 2:
            puppet.say(base.TextDelta("half-way", "half-way"))
            await expect(watched.locator(".message").last).to_contain_text("half-way")
            later = await open_page(place)
            await expect(later.locator(".pulse")).to_be_visible()
    puppet.say(base.TextFinal("block 0", texts[0] + "\n\nreplaced in the end"))
    puppet.say(base.TurnFinished("end_turn", Usage()))
    await expect(watched.locator(".message").last).to_contain_text("replaced in the end")
    read = await open_page(place)
    await expect(read.locator(".message")).to_have_count(2)
    assert await drawn(watched) == await drawn(read)
    assert await drawn(later) == await drawn(read)


async def test_a_page_that_joins_has_what_was_written_so_far(
    stage: Stage, other: Socket, open_page: OpenPage, session: Any
) -> None:
    place = f"/session/{session['id']}"
    puppet = await begin(stage, other, session)
    pages: list[Page] = []
    for number, piece in enumerate(PROSE.split("\n\n")):
        if number % 3 == 0:
            pages.append(await open_page(place))
        puppet.say(base.TextDelta("block", f"{piece}\n\nmark {number}\n\n"))
        shown = []
        for page in pages:
            await expect(page.locator(".prose")).to_contain_text(f"mark {number}")
            shown.append(await page.locator(".prose").evaluate("(element) => element.innerHTML"))
        assert len(set(shown)) == 1
    puppet.say(base.TurnFinished("end_turn", Usage()))


async def test_the_reader_stays_where_they_are_while_an_answer_grows(
    stage: Stage, other: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}")
    puppet = await begin(stage, other, session)
    puppet.say(*(base.TextDelta("first", f"line {number}\n\n") for number in range(200)))
    transcript = page.get_by_role("log", name="Conversation")
    top = "(element) => element.scrollTop"
    end = "(element) => element.scrollHeight - element.scrollTop - element.clientHeight"
    await expect(page.locator(".prose")).to_contain_text("line 199")
    await page.evaluate("() => new Promise(requestAnimationFrame)")
    assert await transcript.evaluate(end) < 2
    await Pointer(page).scroll(transcript, -10_000)
    await expect(page.get_by_role("button", name="↓ Go to the end")).to_be_visible()
    puppet.say(base.ToolUse("tool", "bash", {"command": "true"}))
    puppet.say(*(base.TextDelta("second", f"row {number}\n\n") for number in range(200)))
    await expect(page.locator(".prose").last).to_contain_text("row 199")
    assert await transcript.evaluate(top) == 0
    await page.get_by_role("button", name="↓ New messages").click()
    assert await transcript.evaluate(end) < 2
    puppet.say(base.TextDelta("second", "the last\n\n"), base.TurnFinished("end_turn", Usage()))
    await expect(page.locator(".prose").last).to_contain_text("the last")
    await expect(page.locator(".pulse")).to_have_count(0)
    await page.evaluate("() => new Promise(requestAnimationFrame)")
    assert await transcript.evaluate(end) < 2


GROWN_BEFORE_IT_IS_MEASURED = """(scroller) => {
  const more = document.createElement("p");
  more.style.height = "900px";
  scroller.querySelector(".messages").append(more);
  scroller.dispatchEvent(new Event("scroll"));
}"""
"""As where what was out of sight is higher than guessed, and a scroll to its end is told then."""


async def test_who_is_at_the_end_stays_there_when_it_moves_away_beneath_them(
    stage: Stage, other: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}")
    puppet = await begin(stage, other, session)
    puppet.say(*(base.TextDelta("first", f"line {number}\n\n") for number in range(200)))
    puppet.say(base.TurnFinished("end_turn", Usage()))
    await expect(page.locator(".prose")).to_contain_text("line 199")
    await expect(page.locator(".pulse")).to_have_count(0)
    transcript = page.get_by_role("log", name="Conversation")
    await transcript.evaluate(GROWN_BEFORE_IT_IS_MEASURED)
    for _ in range(2):
        await page.evaluate("() => new Promise(requestAnimationFrame)")
    below = "(element) => element.scrollHeight - element.scrollTop - element.clientHeight"
    assert await transcript.evaluate(below) < 2
    await expect(page.get_by_role("button", name="↓ Go to the end")).to_be_hidden()


async def test_what_was_opened_stays_open_while_more_comes(
    stage: Stage, other: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}")
    puppet = await begin(stage, other, session)
    puppet.say(base.ToolUse("one", "bash", {"command": "seq 3"}))
    fold = page.locator("details.tool")
    await fold.locator("summary").click()
    await expect(fold.locator("pre").first).to_have_text("seq 3")
    puppet.say(base.ToolUse("below", "read", {"file_path": "a"}, "one"))
    puppet.say(base.ToolResult("one", "1\n2\n3"), base.TextDelta("said", "There you are."))
    await expect(fold.locator(".output").first).to_contain_text("3")
    puppet.say(base.TurnFinished("end_turn", Usage()))
    await expect(page.locator(".pulse")).to_have_count(0)
    await expect(fold.locator(".output").first).to_be_visible()
