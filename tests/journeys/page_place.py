"""A served Spinney with a page and a second client: begun, waited for, held to account."""

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

from tests.journeys.elsewhere import TREES
from tests.journeys.ledger import MARK, Conversation, Ledger, strings
from tests.journeys.page_line import PageLine
from tests.journeys.page_seen import FAULTS, READ, Seen
from tests.journeys.place import Place
from tests.journeys.served import Client, command, prepare_repositories
from tests.page.browser import PHONE, REPORTS_VIOLATIONS, Screen, launching
from tests.patience import PATIENCE
from tests.program import Program

SCREENS: Final = {"phone": PHONE, "desktop": Screen(1440, 900)}
PAUSE: Final = 100
"""Milliseconds between two looks at the page."""
WINDOW: Final = 100
"""Messages that a page reads at first."""
_WORD: Final = re.compile(r"k\d+k|[^\W\d_]{2,}")
_TARGET: Final = re.compile(r"\]\([^)]*\)")
"""Where a link of Markdown leads to, which is not drawn."""
OF_A_CUT_LINE: Final = ("WebSocket connection to", "net::ERR_")


class PagePlace(Place):
    """Two repositories with sessions, a page, and the account of what both clients did."""

    def __init__(self, screen: str, patience: float = PATIENCE) -> None:
        super().__init__(Ledger(), patience)
        self.screen = SCREENS[screen]
        self.is_scrolled = False
        """Whether the end of the conversation may be out of sight."""
        self._ends = ExitStack()
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    # Beginning and end --------------------------------------------------------------------------

    def _begin(self) -> None:
        place = Path(tempfile.mkdtemp(prefix="journey-"))
        self._ends.callback(shutil.rmtree, place, ignore_errors=True)
        self.program = Program(place, command())
        repositories = prepare_repositories(self.program, tuple(TREES))
        self.serving = self._ends.enter_context(self.program.serving("--demo"))
        self.client = Client(self.serving.base_url, self.serving.token)
        self._ends.callback(self.client.close)
        self.second.fill(self.client, repositories)
        self.line = PageLine(self.serving.base_url)
        self._ends.callback(self.line.close)
        playwright = self._ends.enter_context(sync_playwright())
        browser = playwright.chromium.launch(**launching(str(place)))
        self._ends.callback(browser.close)
        self._context = self._prepare(browser)
        self.tabs: list[Page] = []
        self.blank: set[Page] = set()
        """Those that were loaded without a connection."""
        self.open_tab("")
        # A page that is loaded anew without a connection comes from what its worker keeps.
        self.page.evaluate("navigator.serviceWorker.ready.then(() => undefined)")
        self.read()

    def open_tab(self, place: str) -> None:
        """Open the page at a place, and look at it."""
        page = self._context.new_page()
        page.goto(f"/#token={self.serving.token}&go={place}")
        page.wait_for_selector("body[data-ready]", state="attached")
        self.tabs.append(page)
        self.page = page

    def switch_tab(self) -> None:
        """Look at the other tab, wherever it was left."""
        self.page = next(tab for tab in self.tabs if tab is not self.page)
        self.page.bring_to_front()
        self.is_scrolled = True

    def close_tab(self, tab: Page) -> None:
        """Close one that nobody looks at."""
        self.tabs.remove(tab)
        self.blank.discard(tab)
        tab.close()

    def _prepare(self, browser: Browser) -> BrowserContext:
        """A browser as one person has it."""
        context = browser.new_context(
            base_url=self.line.base_url,
            viewport={"width": self.screen.width, "height": self.screen.height},
            has_touch=self.screen.touch,
            is_mobile=self.screen.touch,
        )
        context.set_default_timeout(self.patience * 1000)
        context.add_init_script(REPORTS_VIOLATIONS)
        self._watch(context)
        return context

    def _watch(self, context: BrowserContext) -> None:
        """Note all that goes wrong in the page."""

        def said(message: ConsoleMessage) -> None:
            if message.type in ("error", "assert"):
                self._note(f"console: {message.text}")

        def failed(request: Request) -> None:
            # What a reload breaks off has not failed.
            if "ERR_ABORTED" not in (request.failure or ""):
                self._note(f"failed: {request.url} {request.failure}")

        def answered(response: Response) -> None:
            if response.status >= 400:
                self._note(f"{response.status}: {response.url}")

        context.on("console", said)
        context.on("weberror", lambda error: self._note(f"error: {error.error}"))
        context.on("requestfailed", failed)
        context.on("response", answered)

    def _note(self, fault: str) -> None:
        if not any(part in fault for part in OF_A_CUT_LINE):
            self.faults.append(fault)

    def close(self) -> None:
        """End everything, and remove what was made."""
        self._ends.close()

    # Looking ------------------------------------------------------------------------------------

    @property
    def is_online(self) -> bool:
        return self.line.is_whole

    @property
    def is_blank(self) -> bool:
        """Whether the page cannot show anything yet."""
        return self.page in self.blank

    def look(self) -> Seen:
        """The page as it is."""
        return Seen.of(self.page.evaluate(READ))

    @property
    def shown(self) -> Conversation | None:
        """The session that is open."""
        return self.world.conversations.get(self.look().session_id)

    # Waiting ------------------------------------------------------------------------------------

    def pass_time(self) -> None:
        """Let the page go on for a moment."""
        self.page.wait_for_timeout(PAUSE)

    def wait_for(self, condition: Callable[[Seen], bool], what: str) -> None:
        """Wait until the page shows it."""
        self.settle(lambda: "" if condition(self.look()) else f"waited in vain for {what}")

    def wait_for_session(self, session_id: str, before: str = "") -> None:
        """Wait until this session is shown; `before`: the one that was, which stays as it is."""
        self.wait_for(lambda seen: seen.session_id == session_id, f"the session {session_id}")
        self.is_scrolled &= session_id == before

    # What must hold -----------------------------------------------------------------------------

    def check(self) -> None:
        """Everything that must hold after each step."""

        def complain() -> str:
            seen = self.look()
            faults = [*self.complaints(seen), *self.page.evaluate(FAULTS)]
            return "; ".join(faults)

        self.settle(complain)

    def complaints(self, seen: Seen) -> Iterator[str]:
        """What is not as it must be; what the page cannot know is not asked while it is offline."""
        if lost := self.ledger.lost([*self.world.texts, *seen.texts]):
            yield f"typed and lost: {lost}"
        if not self.is_online:
            if seen.link == "open":
                yield "the page does not say that it is offline"
            return
        if seen.link != "open":
            yield f"the connection is {seen.link}"
        yield from self._complain_of_the_tree(seen)
        if (here := self.world.conversations.get(seen.session_id)) is not None:
            yield from self._complain_of_the_conversation(seen, here)
            yield from self._complain_of_what_stands_around(seen, here)

    def _complain_of_the_tree(self, seen: Seen) -> Iterator[str]:
        expected = {made.id: (made.name, _mark_of(made)) for made in self.world.open}
        for session_id in expected.keys() | seen.tree.keys():
            told, known = seen.tree.get(session_id), expected.get(session_id)
            if told != known:
                yield f"the tree shows {told} for {known}"
        waiting = {made.id for made in self.world.open if made.request is not None}
        if seen.needs != len(waiting):
            yield f"the bar says that {seen.needs} need somebody, and {len(waiting)} do"
        is_list = re.fullmatch(r"(#/?(needs)?)?", seen.address) is not None
        if is_list and set(seen.needed) != waiting:
            yield f"{seen.needed} are listed as in need of somebody, and {waiting} are"

    def _complain_of_the_conversation(self, seen: Seen, here: Conversation) -> Iterator[str]:
        ids = [message["id"] for message in here.messages]
        shown = [session_id for session_id, _ in seen.messages]
        if shown != ids[-len(shown) :] or len(shown) < min(len(ids), WINDOW):
            yield f"the messages {shown} are shown in {here.name}, which has {ids}"
            return
        texts = dict(seen.messages)
        for message in here.messages[-len(shown) :]:
            text = texts[message["id"]]
            missing = sorted(word for word in _words_of(message) if word not in text)
            if missing:
                yield f"{missing} are missing from the message {message['id']}: {text!r}"
            others = set(MARK.findall(text)) - set(MARK.findall(" ".join(strings(message))))
            if others:
                yield f"{sorted(others)} are shown in the message {message['id']}, and not its own"
        if here.status != "running" and not self.is_scrolled and seen.is_below:
            yield "the end of the conversation is not in sight"

    def _complain_of_what_stands_around(self, seen: Seen, here: Conversation) -> Iterator[str]:
        is_running = here.status == "running"
        plan = None if is_running else here.session.get("set_aside_plan")
        requests = int((here.request or plan) is not None)
        if seen.requests != requests:
            yield f"{seen.requests} requests are shown, and {requests} wait"
        if seen.mode != here.session["execution_mode"]:
            yield f"the mode {seen.mode} is shown, and it is {here.session['execution_mode']}"
        if here.status in ("idle", "failed") and (seen.pulses or seen.live):
            yield f"an answer is said to be written, or {seen.live} printed, and nothing runs"
        if is_running and not seen.stop:
            yield "it runs, and cannot be stopped"
        if len(seen.queue) != len(here.queued):
            yield f"{seen.queue} are shown as queued, and {len(here.queued)} are"

    def draw_report(self) -> str:
        """What was said, and a picture, for whoever looks into what was found."""
        picture = Path(tempfile.mkdtemp(prefix="journey-found-")) / "page.png"
        self.page.screenshot(path=picture)
        said = [
            f"    {made.name}: {message['role']}: {' '.join(strings(message['content']))[:100]!r}"
            for made in self.world.conversations.values()
            for message in [*made.messages, *made.queued]
        ]
        return "\n".join(["what was said:", *said, f"the page: {self.look()}", f"see {picture}"])


def _mark_of(made: Conversation) -> str:
    """The mark that the tree must show."""
    if made.status == "waiting":
        return "needs-you"
    if made.status in ("running", "failed"):
        return made.status
    return "unread" if made.session["unread"] else "idle"


def _words_of(message: dict[str, object]) -> set[str]:
    """The words of a message that are drawn as text."""
    content = message["content"]
    assert isinstance(content, list)
    texts = [block["text"] for block in content if block["type"] in ("text", "plan")]
    return set(_WORD.findall(_TARGET.sub("]", " ".join(texts))))
