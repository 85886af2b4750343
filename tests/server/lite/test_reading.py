"""`/lite`: conversations in pages, tools and thinking, and the size of pages."""

import gzip
import html
import json
import re
import sqlite3
from pathlib import Path

import aiohttp
import pytest

from model.backends import agent_events
from model.chat.tool_outputs import MAX_SHOWN
from model.commands.preferences import update_preferences
from model.commands.sessions import create_session, send_chat_message, update_session
from model.domain.events.messages import MessagesRewound
from model.domain.events.projects import ProjectUpdated
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.requests import Question, QuestionOption
from model.domain.sessions import Session
from model.domain.usage import Usage
from model.domain.worktrees import Label, Worktree
from model.runtime.workspace import Workspace
from server.app import Server
from server.static import WEB
from tests.conftest import Eventually
from tests.fakes import DONE, FakeBackend
from tests.page.hostile import ALL
from tests.server.conftest import base_url
from tests.server.lite.browser import Browser
from tests.server.lite.strict_html import StrictPage
from tests.tables import table

MAX_PAGE_BYTES = 15_000
"""Maximum size of a page."""


class Conversation:
    """Runs turns of the session's agent with given events."""

    def __init__(
        self, browser: Browser, backend: FakeBackend, session: Session, eventually: Eventually
    ) -> None:
        self._browser, self._backend, self._eventually = browser, backend, eventually
        self.session = session
        self.path = f"/lite/sessions/{session.id}"

    def set_script(self, *events: agent_events.AgentEvent) -> None:
        """Set the events of the agent's next turn."""
        self._backend.script = lambda _: events

    async def run_turn(
        self, workspace: Workspace, *events: agent_events.AgentEvent, message: str = "go"
    ) -> StrictPage:
        """Run a turn with these events; returns the page after it."""
        self._backend.script = lambda _: events
        page = await self._browser.get_page(self.path)
        seen = await self._browser.submit(page, "messages", message=message)
        assert seen.status == 303, seen.body
        store = workspace.store
        key = self.session.id
        await self._eventually(lambda: store.state.sessions[key].status != "running")
        return await self._browser.get_page(self.path)


@pytest.fixture
def conversation(
    browser: Browser, backend: FakeBackend, session: Session, eventually: Eventually
) -> Conversation:
    return Conversation(browser, backend, session, eventually)


def numbered_words(page: StrictPage) -> list[str]:
    """The words of a page that have a number, in order."""
    return re.findall(r"word\d+", page.text)


async def test_a_long_conversation_is_read_page_by_page_back_and_forth(
    browser: Browser, conversation: Conversation, workspace: Workspace
) -> None:
    expected = []
    for number in range(6):
        words = [f"word{number}{n:04}" for n in range(400)]
        expected += words
        page = await conversation.run_turn(
            workspace, agent_events.TextDelta("a", " ".join(words)), DONE
        )
    pages = [page]
    while "Earlier" in page.links():
        page = await browser.get_page(page.links()["Earlier"])
        pages.append(page)
    assert len(pages) > 3
    assert [word for page in reversed(pages) for word in numbered_words(page)] == expected
    assert all(numbered_words(page) for page in pages)
    read = numbered_words(page)
    while "Later" in page.links():
        page = await browser.get_page(page.links()["Later"])
        read += numbered_words(page)
    assert read == expected
    assert numbered_words(await browser.get_page(pages[1].links()["Newest"])) == numbered_words(
        pages[0]
    )


async def test_addresses_of_pages_are_stable_while_messages_arrive(
    browser: Browser, conversation: Conversation, workspace: Workspace
) -> None:
    words = " ".join(f"word{n:05}" for n in range(3000))
    page = await conversation.run_turn(workspace, agent_events.TextDelta("a", words), DONE)
    older = page.links()["Earlier"]
    before = await browser.get_page(older)
    await conversation.run_turn(workspace, agent_events.TextDelta("a", words), DONE)
    assert numbered_words(await browser.get_page(older)) == numbered_words(before)


@table("query", ["before=99999.1", "before=x", "from=0.999", "from=-1.0", "from=5.5"])
async def test_unknown_positions_are_no_error(
    browser: Browser, conversation: Conversation, workspace: Workspace, query: str
) -> None:
    await conversation.run_turn(workspace, agent_events.TextDelta("a", "an answer"), DONE)
    await browser.get_page(f"{conversation.path}?{query}")


async def test_an_answer_is_rendered_from_markdown(
    conversation: Conversation, workspace: Workspace
) -> None:
    text = "# Title\n\nSome **bold** `code`, [here](https://x.test/?a&b).\n\n```py\nx = 1\n```"
    page = await conversation.run_turn(workspace, agent_events.TextDelta("a", text), DONE)
    for part in (
        "<h3>Title</h3>",
        "<b>bold</b> <code>code</code>",
        '<a href="https://x.test/?a&amp;b" rel="noopener noreferrer">here</a>',
        '<pre tabindex="0">\n<code>x = 1</code></pre>',
    ):
        assert part in page.source


async def test_the_output_of_a_running_command_is_shown(
    browser: Browser, conversation: Conversation, workspace: Workspace, eventually: Eventually
) -> None:
    conversation.set_script(
        agent_events.ToolUse("1", "bash", {"command": "make"}),
        agent_events.ToolOutput("1", "".join(f"<line {number}>\n" for number in range(9))),
    )
    page = await browser.get_page(conversation.path)
    await browser.submit(page, "messages", message="go")
    store = workspace.store

    def is_shown() -> bool:
        message = store.state.streaming_in(conversation.session.id)
        return message is not None and "line 8" in str(message.content)

    await eventually(is_shown)
    page = await browser.get_page(conversation.path)
    assert "&lt;line 6&gt;\n&lt;line 7&gt;\n&lt;line 8&gt;" in page.source
    assert "&lt;line 5&gt;" not in page.source
    part = await browser.get_page(page.links()["bash"])
    assert "Output so far" in part.source
    assert "&lt;line 0&gt;" in part.source


async def test_a_tool_is_one_line_with_a_link_to_its_details(
    browser: Browser, conversation: Conversation, workspace: Workspace
) -> None:
    page = await conversation.run_turn(
        workspace,
        agent_events.TextDelta("t", "Let me think <hard>", "thinking"),
        agent_events.ToolUse(
            "1", "edit", {"file_path": "a.py", "old_content": "a\nb", "new_content": "a\nc"}
        ),
        agent_events.ToolResult("1", "written"),
        agent_events.ToolUse("2", "Task", {"description": "look"}),
        agent_events.ToolUse("3", "Grep", {"pattern": "x+"}, parent_tool_use_id="2"),
        agent_events.ToolResult("2", "<nothing>", is_error=True),
        DONE,
    )
    links = page.links()
    assert "Grep" not in links
    assert "a.py</code> done" in page.source
    assert "look</code> failed" in page.source
    edit = (await browser.get_page(links["edit"])).text
    assert "  a\n- b\n+ c" in edit
    assert "written" in edit
    task = (await browser.get_page(links["Task"])).text
    assert "· Grep x+" in task
    assert "Error:\n<nothing>" in task
    thought = next(address for words, address in links.items() if words.startswith("thought for"))
    assert "Let me think <hard>" in (await browser.get_page(thought)).text


async def test_a_long_result_is_read_to_its_end(
    browser: Browser, conversation: Conversation, workspace: Workspace
) -> None:
    result = "\n".join(f"word{n:05} & <é>" for n in range(MAX_SHOWN // 8))
    page = await conversation.run_turn(
        workspace,
        agent_events.ToolUse("1", "Bash", {"command": "ls"}),
        agent_events.ToolResult("1", result),
        DONE,
    )
    page = await browser.get_page(page.links()["Bash"])
    assert "are left out here" in await read_all_pages(browser, page)
    page = await browser.get_page(page.links()["Full result"])
    assert re.findall(r"word\d+", await read_all_pages(browser, page)) == re.findall(
        r"word\d+", result
    )


async def read_all_pages(browser: Browser, page: StrictPage) -> str:
    text = ""
    while True:
        assert len(page.source) < MAX_PAGE_BYTES
        text += html.unescape(
            page.source.partition('<pre tabindex="0">\n')[2].partition("</pre>")[0]
        )
        if "Continue" not in page.links():
            return text
        page = await browser.get_page(page.links()["Continue"])


async def test_rewound_messages_are_folded(
    browser: Browser, conversation: Conversation, workspace: Workspace
) -> None:
    for name in ("kept", "taken back"):
        await conversation.run_turn(
            workspace, agent_events.TextFinal("t", name), DONE, message=name
        )
    messages = (await workspace.store.messages(conversation.session.id)).messages
    ids = [message.id for message in messages[2:]]
    session_id = conversation.session.id
    rewound = MessagesRewound(session_id=session_id, message_ids=ids, rewound=True)
    await workspace.store.accept(rewound)
    page = await browser.get_page(conversation.path)
    folded = page.source[page.source.index("<details") : page.source.index("</details>")]
    assert "2 messages rewound · show" in folded
    assert folded.count("taken back") == 2
    assert "kept" not in folded


async def test_failures_and_answers_are_shown(
    browser: Browser, conversation: Conversation, workspace: Workspace
) -> None:
    page = await conversation.run_turn(
        workspace, agent_events.TurnFailed("It <broke>.", "backend_error", Usage())
    )
    assert "It <broke>." in page.text
    assert page.text.count("failed") >= 1
    question = Question(question="Tea?", options=[QuestionOption(label="Yes")])
    page = await conversation.run_turn(workspace, agent_events.QuestionAsked("q", (question,)))
    page = await browser.submit_and_follow(page, "answer", own0="Only <green>")
    assert "→ Only <green>" in page.text


async def test_attached_files_are_named(
    browser: Browser, conversation: Conversation, worktree: Worktree, workspace: Workspace
) -> None:
    (Path(worktree.path) / "a<b>.py").write_text("x = 1")
    await send_chat_message(workspace, conversation.session.id, "look", files=["a<b>.py"])
    assert f"file {worktree.path}/a<b>.py" in (await browser.get_page(conversation.path)).text


async def test_the_theme_is_that_of_the_preferences(browser: Browser, workspace: Workspace) -> None:
    assert "data-theme" not in (await browser.get_page()).all("html")[0]
    changes = {"theme": "dark", "syntax_theme_dark": "nord"}
    await update_preferences(workspace, changes)
    page = await browser.get_page()
    assert page.all("html")[0]["data-theme"] == "dark"
    assert any("dark=nord" in str(known["href"]) for known in page.all("link"))


async def test_all_linked_files_exist(
    browser: Browser, server: Server, http: aiohttp.ClientSession
) -> None:
    page = await browser.get_page()
    addresses = [str(known["href"]) for known in page.all("link")]
    assert len(addresses) == 3
    for address in addresses:
        assert (await http.get(base_url(server) + address)).status == 200, address


# Untrusted text, and sizes ----------------------------------------------------------------------


async def test_hostile_text_is_escaped_everywhere(
    browser: Browser,
    conversation: Conversation,
    workspace: Workspace,
    worktree: Worktree,
    session: Session,
) -> None:
    """The strict parser fails on any unexpected element or attribute."""
    texts = iter(ALL * 2)
    for _ in range(len(ALL) // 20 + 1):
        some = [next(texts) for _ in range(20)]
        await update_session(workspace, session.id, name=some[0])
        renamed = worktree.model_copy(
            update={
                "name": some[1], "branch": some[2], "base_branch": some[3], "pr_url": some[4],
                "label": Label(name=some[5], color=some[6]), "pr_number": 1,
            }
        )  # fmt: skip
        await workspace.store.accept(WorktreeUpdated(worktree=renamed))
        project = workspace.store.state.projects["project"].model_copy(update={"name": some[7]})
        await workspace.store.accept(ProjectUpdated(project=project))
        options = [
            QuestionOption(label=some[8], description=some[9]),
            QuestionOption(label=some[10]),
        ]
        page = await conversation.run_turn(
            workspace,
            agent_events.TextDelta("a", some[11]),
            agent_events.TextDelta("b", some[12], "thinking"),
            agent_events.ToolUse("1", some[13], {"command": some[14], "x": some[15]}),
            agent_events.ToolResult("1", some[16]),
            agent_events.QuestionAsked("q", (Question(question=some[17], options=options),)),
            message=some[18],
        )
        for address in page.links().values():
            if address.startswith("/lite"):
                await browser.get_page(address)
        refused = await browser.submit(page, "answer", request_id="other", own0=some[19])
        assert refused.page.form("answer").fields["own0"] == " ".join(some[19].split("\r\n"))
        await browser.submit_and_follow(page, "answer", q0="0")


def is_lite_address(address: str) -> bool:
    return address.startswith("/lite")


async def test_no_page_exceeds_the_size_limit(
    browser: Browser,
    server: Server,
    http: aiohttp.ClientSession,
    conversation: Conversation,
    workspace: Workspace,
    worktree: Worktree,
) -> None:
    long = "&<long>" * 400
    for _ in range(30):
        await create_session(workspace, worktree.id, name=long)
    named = worktree.model_copy(update={"label": Label(name=long, color="#fff")})
    await workspace.store.accept(WorktreeUpdated(worktree=named))
    options = [QuestionOption(label=f"{n} {long}", description=long) for n in range(6)]
    questions = tuple(Question(question=f"{n} {long}", options=options) for n in range(4))
    events = [
        agent_events.TextDelta("a", f"{long}\n\n" * 6),
        agent_events.ToolUse("1", long, {"command": long * 20, "b": long}),
        agent_events.ToolResult("1", long * 200),
    ]
    asking = [
        agent_events.QuestionAsked("q", questions),
        agent_events.PermissionRequested("p", long, {"command": long * 10}, long),
        agent_events.PlanProposed("x", f"1. {long}\n" * 6),
    ]
    pages: list[int] = []
    for request in asking:
        page = await conversation.run_turn(workspace, *events, request)
        seen = [
            page,
            *[
                await browser.get_page(address)
                for address in page.links().values()
                if is_lite_address(address)
            ],
        ]
        # The page for editing a plan is as long as the plan.
        pages += [len(each.source.encode()) for each in seen if "Edit the plan" not in each.text]
        await browser.submit_and_follow(page, "stop") if page.has_form("stop") else None
        await conversation.run_turn(workspace, DONE)
    loaded = [str(k["href"]) for k in page.all("link") if k["rel"] == "stylesheet"]
    sheets = (WEB / "css" / "lite.css").read_bytes()
    assert len(sheets) < 3500
    assert max(pages) + len(sheets) < MAX_PAGE_BYTES, json.dumps(sorted(pages))
    packed = 0
    for address in loaded:
        packed += len(gzip.compress(await (await http.get(base_url(server) + address)).read()))
    assert max(pages) + packed < MAX_PAGE_BYTES, (max(pages), packed)


async def test_damaged_blocks_are_marked_and_the_problem_is_shown(
    workspace: Workspace, browser: Browser, conversation: Conversation
) -> None:
    page = await conversation.run_turn(
        workspace,
        agent_events.TextDelta("one", "All is well."),
        agent_events.TextDelta("two", "So far."),
        DONE,
    )
    assert "All is well." in page.text
    await workspace.store.flush()
    damaged = "UPDATE blocks SET body = substr(body, 1, 30) WHERE body LIKE '%All is well%'"
    with sqlite3.connect(workspace.directories.database) as file:
        file.execute(damaged)
    file.close()
    page = await browser.get_page(conversation.path)
    assert "unreadable: This part is damaged in the database. What is left of it:" in page.text
    assert "All is" in page.text and "All is well" not in page.text and "So far." in page.text
    workspace.problems.append("The database was damaged. It is kept as spinney.db.broken-1.")
    assert "kept as spinney.db.broken-1" in (await browser.get_page("/lite")).text
