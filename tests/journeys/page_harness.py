"""Test harness for the page: a server, a browser, a second client and a guest."""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    sync_playwright,
)

from tests.journeys.client import Client, create_repositories, program_command
from tests.journeys.guest import Guest
from tests.journeys.harness import Harness
from tests.journeys.ledger import MARK, Conversation, Ledger, strings
from tests.journeys.page_proxy import PageProxy
from tests.journeys.page_view import FIND_FAULTS, READ_PAGE, PageView
from tests.journeys.repositories import Repositories
from tests.journeys.second_client import WORKTREES
from tests.page.browser import PHONE, REPORTS_VIOLATIONS, Screen, launch_options
from tests.patience import PATIENCE
from tests.program import Program

SCREENS: Final = {"phone": PHONE, "desktop": Screen(1440, 900)}
PAUSE: Final = 100
"""Milliseconds between two reads of the page."""
PAGE_SIZE: Final = 100
"""Number of messages that the page loads first."""
_WORD: Final = re.compile(r"k\d+k|[^\W\d_]{2,}")
_TARGET: Final = re.compile(r"\]\([^)]*\)")
"""The target of a Markdown link, which is not drawn."""
CONNECTION_ERRORS: Final = ("WebSocket connection to", "net::ERR_")


class PageHarness(Harness):
    """Two repositories with sessions, a server, a page in Chromium and a second client."""

    def __init__(self, screen: str, patience: float = PATIENCE) -> None:
        super().__init__(Ledger(), patience)
        self.screen = SCREENS[screen]
        self.is_scrolled = False
        """Whether the conversation may not be scrolled to the end."""
        self._exit_stack = ExitStack()
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    # Start and end ------------------------------------------------------------------------------

    def _start(self) -> None:
        directory = Path(tempfile.mkdtemp(prefix="journey-"))
        self._exit_stack.callback(shutil.rmtree, directory, ignore_errors=True)
        self.program = Program(directory, program_command())
        paths = create_repositories(self.program, tuple(WORKTREES))
        self.repositories = Repositories(self.program, paths)
        self.serving = self._exit_stack.enter_context(self.program.serving("--demo"))
        self.client = Client(self.serving.base_url, self.serving.token)
        self._exit_stack.callback(self.client.close)
        self.second.create_sessions(self.client, paths)
        self.guest = Guest(self.client, self.serving.base_url)
        self._exit_stack.callback(self.guest.client.close)
        self.proxy = PageProxy(self.serving.base_url)
        self._exit_stack.callback(self.proxy.close)
        playwright = self._exit_stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(**launch_options(str(directory)))
        self._exit_stack.callback(browser.close)
        self._context = self._prepare(browser)
        self.tabs: list[Page] = []
        self.blank: set[Page] = set()
        """Tabs that were loaded offline."""
        self.open_tab("")
        # The service worker serves a page that is reloaded offline.
        self.page.evaluate("navigator.serviceWorker.ready.then(() => undefined)")
        self.refresh()

    def open_tab(self, path: str) -> None:
        """Open the page at a path in a new tab, and switch to it."""
        page = self._context.new_page()
        page.goto(f"/#token={self.serving.token}&go={path}")
        page.wait_for_selector("body[data-ready]", state="attached")
        self.tabs.append(page)
        self.page = page

    def switch_tab(self) -> None:
        """Switch to the other tab, which keeps its scroll position."""
        self.page = next(tab for tab in self.tabs if tab is not self.page)
        self.page.bring_to_front()
        self.is_scrolled = True

    def close_tab(self, tab: Page) -> None:
        """Close a background tab."""
        self.tabs.remove(tab)
        self.blank.discard(tab)
        tab.close()

    def _prepare(self, browser: Browser) -> BrowserContext:
        """Create the browser context that all tabs share."""
        context = browser.new_context(
            base_url=self.proxy.base_url,
            viewport={"width": self.screen.width, "height": self.screen.height},
            has_touch=self.screen.touch,
            is_mobile=self.screen.touch,
        )
        context.set_default_timeout(self.patience * 1000)
        context.add_init_script(REPORTS_VIOLATIONS)
        self._record_errors(context)
        return context

    def _record_errors(self, context: BrowserContext) -> None:
        """Record console errors, exceptions and failed requests of the page."""

        def on_console(message: ConsoleMessage) -> None:
            if message.type in ("error", "assert"):
                self._add_fault(f"console: {message.text}")

        def on_failed_request(request: Request) -> None:
            # A reload aborts requests.
            if "ERR_ABORTED" not in (request.failure or ""):
                self._add_fault(f"failed: {request.url} {request.failure}")

        def on_response(response: Response) -> None:
            if response.status >= 400:
                self._add_fault(f"{response.status}: {response.url}")

        context.on("console", on_console)
        context.on("weberror", lambda error: self._add_fault(f"error: {error.error}"))
        context.on("requestfailed", on_failed_request)
        context.on("response", on_response)

    def _add_fault(self, fault: str) -> None:
        if not any(part in fault for part in CONNECTION_ERRORS):
            self.faults.append(fault)

    def close(self) -> None:
        """Stop all processes and remove the directory."""
        self._exit_stack.close()

    # Reading ------------------------------------------------------------------------------------

    @property
    def is_online(self) -> bool:
        return self.proxy.is_connected

    @property
    def is_blank(self) -> bool:
        """Whether the page has no content yet, because it was loaded offline."""
        return self.page in self.blank

    def read_view(self) -> PageView:
        """Read the current page."""
        return PageView.of(self.page.evaluate(READ_PAGE))

    @property
    def shown(self) -> Conversation | None:
        """The open session."""
        return self.world.conversations.get(self.read_view().session_id)

    # Waiting ------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Wait for a moment, during which the page runs."""
        self.page.wait_for_timeout(PAUSE)

    def wait_for(self, condition: Callable[[PageView], bool], what: str) -> None:
        """Wait until the page satisfies the condition; `what` describes it in the error."""
        self.settle(lambda: "" if condition(self.read_view()) else f"timed out waiting for {what}")

    def wait_for_session(self, session_id: str, before: str = "") -> None:
        """Wait until this session is shown.

        If it is the session that was open `before`, it keeps its scroll position.
        """
        self.wait_for(lambda view: view.session_id == session_id, f"the session {session_id}")
        self.is_scrolled &= session_id == before

    # Invariants ---------------------------------------------------------------------------------

    def check(self) -> None:
        """Check all invariants after a step."""

        def describe_problems() -> str:
            view = self.read_view()
            faults = [*self.find_problems(view), *self.page.evaluate(FIND_FAULTS)]
            problem = "; ".join(faults) or self.repositories.find_problem()
            return problem or self.find_wrong_usage()

        self.settle(describe_problems)

    def find_problems(self, view: PageView) -> Iterator[str]:
        """Yield violated invariants. Only those of lost texts are checked while it is offline."""
        if lost := self.ledger.find_lost([*self.world.texts, *view.texts]):
            yield f"typed and lost: {lost}"
        if not self.is_online:
            if view.link == "open":
                yield "the page does not show that it is offline"
            return
        if view.link != "open":
            yield f"the connection is {view.link}"
        yield from self._check_tree(view)
        if (current := self.world.conversations.get(view.session_id)) is not None:
            yield from self._check_conversation(view, current)
            yield from self._check_controls(view, current)

    def _check_tree(self, view: PageView) -> Iterator[str]:
        expected = {each.id: (each.name, _status_mark(each)) for each in self.world.open_sessions}
        for session_id in expected.keys() | view.tree.keys():
            shown, known = view.tree.get(session_id), expected.get(session_id)
            if shown != known:
                yield f"the tree shows {shown} for {known}"
        waiting = {each.id for each in self.world.open_sessions if each.request is not None}
        if view.needs != len(waiting):
            yield f"the bar counts {view.needs} waiting sessions, expected {len(waiting)}"
        is_list = re.fullmatch(r"(#/?(needs)?)?", view.address) is not None
        if is_list and set(view.needed) != waiting:
            yield f"{view.needed} are listed under “Needs you”, expected {waiting}"

    def _check_conversation(self, view: PageView, current: Conversation) -> Iterator[str]:
        ids = [message["id"] for message in current.messages]
        shown = [session_id for session_id, _ in view.messages]
        if shown != ids[-len(shown) :] or len(shown) < min(len(ids), PAGE_SIZE):
            yield f"the messages {shown} are shown in {current.name}, which has {ids}"
            return
        texts = dict(view.messages)
        for message in current.messages[-len(shown) :]:
            text = texts[message["id"]]
            missing = sorted(word for word in _drawn_words(message) if word not in text)
            if missing:
                yield f"{missing} are missing from message {message['id']}: {text!r}"
            others = set(MARK.findall(text)) - set(MARK.findall(" ".join(strings(message))))
            if others:
                yield f"{sorted(others)} are shown in message {message['id']} and belong to others"
        if current.status != "running" and not self.is_scrolled and view.is_below:
            yield "the end of the conversation is not visible"

    def _check_controls(self, view: PageView, current: Conversation) -> Iterator[str]:
        is_running = current.status == "running"
        plan = None if is_running else current.session.get("set_aside_plan")
        requests = int((current.request or plan) is not None)
        if view.requests != requests:
            yield f"{view.requests} requests are shown, expected {requests}"
        if view.mode != current.session["execution_mode"]:
            yield f"mode {view.mode} is shown, expected {current.session['execution_mode']}"
        if current.status in ("idle", "failed") and (view.pulses or view.live):
            yield f"a running answer or the output {view.live} is shown, but nothing runs"
        if is_running and not view.stop:
            yield "the agent runs and there is no stop button"
        if len(view.queue) != len(current.queued):
            yield f"{view.queue} are shown as queued, expected {len(current.queued)} messages"

    def describe_state(self) -> str:
        """Describe the messages and the page for a failure report, and save a screenshot."""
        picture = Path(tempfile.mkdtemp(prefix="journey-found-")) / "page.png"
        self.page.screenshot(path=picture)
        messages = [
            f"    {each.name}: {message['role']}: {' '.join(strings(message['content']))[:100]!r}"
            for each in self.world.conversations.values()
            for message in [*each.messages, *each.queued]
        ]
        return "\n".join(
            ["messages:", *messages, f"page: {self.read_view()}", f"screenshot: {picture}"]
        )


def _status_mark(conversation: Conversation) -> str:
    """The status mark that the tree must show for a session."""
    if conversation.status == "waiting":
        return "needs-you"
    if conversation.status in ("running", "failed", "paused"):
        return conversation.status
    return "unread" if conversation.session["unread"] else "idle"


def _drawn_words(message: dict[str, object]) -> set[str]:
    """The words of a message that are drawn as text."""
    content = message["content"]
    assert isinstance(content, list)
    texts = [block["text"] for block in content if block["type"] in ("text", "plan")]
    return set(_WORD.findall(_TARGET.sub("]", " ".join(texts))))
