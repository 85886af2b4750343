"""What a worktree changes, in the page: looked at, commented on, staged, discarded, committed."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, WebSocketRoute, expect

from tests.page.browser import DESKTOP, PHONE
from tests.page.conftest import OpenPage
from tests.page.person import Hands, Keys, Pointer
from tests.server.conftest import Socket

ONE_PROGRAM = True

NUMBERS = "".join(f"line {n}\n" for n in range(1, 31))
BOTH_ENDS = NUMBERS.replace("line 3\n", "line three\n").replace("line 28\n", "line twenty-eight\n")


@dataclass
class Tree:
    """A worktree on disk."""

    id: str
    root: Path
    project: str = ""

    def write(self, name: str, text: str | bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def read(self, name: str) -> str:
        return (self.root / name).read_text()

    def git(self, *words: str) -> str:
        ran = subprocess.run(
            ["git", *words], cwd=self.root, capture_output=True, text=True, check=True
        )
        return ran.stdout

    def commit(self, name: str, text: str) -> None:
        self.write(name, text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", f"Change {name}")


@pytest.fixture
def repository(repository: Path) -> Path:
    """Somebody commits in it, and it has a remote."""
    remote = repository.parent / "remote.git"
    for words in (
        ["config", "user.name", "Ada"],
        ["config", "user.email", "ada@example.org"],
        ["init", "--quiet", "--bare", str(remote)],
        ["remote", "add", "origin", str(remote)],
        ["push", "--quiet", "origin", "HEAD"],
    ):
        subprocess.run(["git", *words], cwd=repository, check=True)
    return repository


@pytest.fixture
def tree(worktree: Any) -> Tree:
    return Tree(worktree["id"], Path(worktree["path"]), worktree["project_id"])


@pytest.fixture
def two_hunks(tree: Tree) -> Tree:
    """`list.txt` differs at both its ends."""
    tree.commit("list.txt", NUMBERS)
    tree.write("list.txt", BOTH_ENDS)
    return tree


@pytest_asyncio.fixture(params=["mouse", "touch", "keys"], loop_scope="session")
async def hands(request: pytest.FixtureRequest, open_page: OpenPage) -> Hands:
    """Somebody at a page."""
    page = await open_page(screen=PHONE if request.param == "touch" else DESKTOP)
    return Keys(page) if request.param == "keys" else Pointer(page, request.param == "touch")


async def show(page: Page, tree: Tree, query: str = "") -> None:
    await page.goto(f"/#/diff/{tree.id}{query}")
    await expect(page.get_by_role("group", name="Which changes")).to_be_visible()


def file(page: Page, path: str) -> Locator:
    return page.get_by_role("region", name=path, exact=True)


def button(page: Page | Locator, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def row(page: Page, text: str) -> Locator:
    return page.locator(".diff-row[data-at]").filter(has_text=text).first


async def tell(other: Socket, tree: Tree) -> None:
    """Git is asked now what changed on disk, and not within a minute."""
    await other.call("fetch_worktrees_status", projectId=tree.project)


async def sent_to(other: Socket, session: Any) -> list[str]:
    """What a person said in the session."""
    page = await other.call("get_messages", sessionId=session["id"])
    said = [message for message in page["messages"] if message["role"] == "user"]
    return [block["text"] for message in said for block in message["content"]]


# Looking ------------------------------------------------------------------------------------------


async def test_every_kind_of_change_says_what_happened(page: Page, tree: Tree) -> None:
    tree.write("gone.txt", "1\n")
    tree.write("old.py", "".join(f"a{n} = {n}\n" for n in range(20)))
    tree.write("run.sh", "echo\n")
    tree.write("picture", b"\0\1")
    tree.commit("README.md", "# Orchard\n")
    tree.write("picture", b"\0\2")
    tree.write("new one.py", "def hello():\n    return 1\n")
    (tree.root / "gone.txt").unlink()
    (tree.root / "run.sh").chmod(0o755)
    tree.git("mv", "old.py", "moved.py")
    await show(page, tree)
    await expect(file(page, "new one.py")).to_contain_text("new, not in git yet")
    await expect(file(page, "new one.py")).to_contain_text("+2")
    await expect(file(page, "gone.txt")).to_contain_text("deleted")
    await expect(file(page, "gone.txt")).to_contain_text("−1")
    await expect(file(page, "run.sh")).to_contain_text("mode 100644 → 100755")
    await expect(file(page, "run.sh")).to_contain_text("The file can now be run.")
    await expect(file(page, "picture")).to_contain_text("binary")
    await expect(file(page, "picture")).to_contain_text("its content is not shown")
    await expect(page.locator(".tok-storage", has_text="def")).to_be_visible()
    await button(page, "Staged").click()
    await expect(file(page, "moved.py")).to_contain_text("renamed from old.py")
    await expect(file(page, "new one.py")).to_have_count(0)
    await page.get_by_role("button", name="Against ").click()
    await expect(file(page, "README.md")).to_contain_text("Counts apples.")
    await expect(button(page, "Stage README.md")).to_have_count(0)


async def test_old_and_new_stand_beside_each_other_where_there_is_room(
    open_page: OpenPage, two_hunks: Tree
) -> None:
    wide, narrow = await open_page(), await open_page(screen=PHONE)
    for page in (wide, narrow):
        await show(page, two_hunks)
    halves = row(wide, "line three").locator(".half")
    await expect(halves).to_have_text(["3-line 3", "3+line three"])
    await expect(row(wide, "line three").locator(".word")).to_have_text(["3", "three"])
    await expect(row(narrow, "line three")).to_have_text("3+line three")
    await button(wide, "Two columns").click()
    await expect(row(wide, "line three")).to_have_text("3+line three")
    await wide.reload()
    await expect(button(wide, "Two columns")).to_have_attribute("aria-pressed", "false")
    await expect(row(wide, "line three")).to_have_text("3+line three")


async def test_a_long_line_scrolls_in_its_file_or_wraps(phone: Page, tree: Tree) -> None:
    tree.write("long.txt", "word " * 200 + "end\n")
    await show(phone, tree)
    code = row(phone, "end").locator(".code")
    line = await code.evaluate("(element) => element.getBoundingClientRect().height")
    await expect(row(phone, "end")).to_be_visible()
    assert await phone.locator(".diff-rows").evaluate(
        "(grid) => grid.scrollWidth > grid.clientWidth"
    )
    await button(phone, "Wrap lines").tap()
    await expect(phone.locator(".diff-view")).to_have_class("diff-view wrap")
    assert await code.evaluate("(element) => element.getBoundingClientRect().height") > 3 * line
    assert await phone.locator(".diff-rows").evaluate(
        "(grid) => grid.scrollWidth === grid.clientWidth"
    )


async def test_a_large_file_is_closed_at_first_and_comes_in_parts(page: Page, tree: Tree) -> None:
    tree.write("large.txt", "".join(f"number {n}\n" for n in range(2_400)))
    await show(page, tree)
    fold = button(file(page, "large.txt"), "large.txt")
    await expect(fold).to_have_attribute("aria-expanded", "false")
    await fold.click()
    await expect(row(page, "number 998")).to_be_attached()
    await button(page, "Show 1,000 more of 1,401 rows").click()
    await button(page, "Show 401 more of 401 rows").click()
    await expect(page.locator(".diff-row[data-at]")).to_have_count(2_401)
    await expect(page.locator(".file-foot button")).to_have_count(0)
    await fold.click()
    await expect(page.locator(".file-body")).to_be_hidden()


async def test_the_file_that_was_asked_for_is_found_on_whichever_side(
    page: Page, two_hunks: Tree
) -> None:
    two_hunks.git("add", "list.txt")
    two_hunks.write("a.txt", "1\n")
    await show(page, two_hunks, "?file=list.txt")
    await expect(button(page, "Staged")).to_have_attribute("aria-pressed", "true")
    await expect(button(file(page, "list.txt"), "list.txt")).to_be_focused()


# Following ----------------------------------------------------------------------------------------


async def test_what_is_read_and_written_stays_while_the_file_changes(
    page: Page, two_hunks: Tree, other: Socket
) -> None:
    await show(page, two_hunks)
    await row(page, "line twenty-eight").locator(".no").last.click()
    await button(page, "Comment").click()
    await page.keyboard.type("Why in wo")
    await page.keyboard.press("ArrowLeft")
    box = page.locator(".said textarea")
    two_hunks.write("list.txt", "first of all\n" + BOTH_ENDS)
    await tell(other, two_hunks)
    await expect(row(page, "first of all")).to_be_attached()
    await expect(box).to_be_focused()
    await page.keyboard.type("rr")
    await expect(box).to_have_value("Why in wrro")
    await expect(page.get_by_role("group", name="Comment on list.txt:29").first).to_be_visible()


async def test_a_line_stays_where_it_stands_when_lines_come_above_it(
    page: Page, tree: Tree, other: Socket
) -> None:
    lines = [f"number {n}\n" for n in range(300)]
    tree.write("numbers.txt", "".join(lines))
    await show(page, tree)
    line = row(page, "number 200")
    await line.evaluate("(element) => element.scrollIntoView({ block: 'start' })")
    await expect(line).to_be_in_viewport()
    await line.evaluate("(element) => element.focus({ preventScroll: true })")
    top = "(element) => Math.round(element.getBoundingClientRect().top)"
    before = await line.evaluate(top)
    tree.write("numbers.txt", "".join(["came first\n"] * 40 + lines))
    await tell(other, tree)
    await expect(row(page, "came first")).to_be_attached()
    await expect(line).to_be_focused()
    assert abs(await line.evaluate(top) - before) <= 2


async def test_what_changed_since_it_was_shown_is_not_staged_but_drawn_anew(
    open_page: OpenPage, two_hunks: Tree
) -> None:
    page = await open_page()
    told = ("git:status-update", "message-block", "message-completed")

    def quiet(route: WebSocketRoute) -> None:
        """The page hears nothing of what happens."""
        server = route.connect_to_server()
        route.on_message(server.send)
        server.on_message(
            lambda frame: None if json.loads(frame).get("event") in told else route.send(frame)
        )

    await page.route_web_socket("**/ws?*", quiet)
    await page.reload()
    await show(page, two_hunks)
    await expect(row(page, "line three")).to_be_visible()
    two_hunks.write("list.txt", BOTH_ENDS.replace("line 1\n", "line one\n"))
    await button(page, "Stage list.txt").click()
    await expect(page.get_by_role("alert")).to_contain_text("has changed since it was shown")
    await expect(row(page, "line one")).to_be_visible()
    assert two_hunks.git("diff", "--cached") == ""
    await button(page, "Stage list.txt").click()
    await expect(page.get_by_text("Nothing is changed that is not staged.")).to_be_visible()
    assert "+line one" in two_hunks.git("diff", "--cached")


# Staging ------------------------------------------------------------------------------------------


async def test_hunks_and_files_are_staged_discarded_and_brought_back(
    hands: Hands, two_hunks: Tree
) -> None:
    page, tree = hands.page, two_hunks
    await show(page, tree)
    last = page.locator(".diff-row.hunk").nth(1)
    await hands.press(last.get_by_role("button", name="Stage"))
    await expect(page.locator(".diff-row.hunk")).to_have_count(1)
    assert "+line twenty-eight" in tree.git("diff", "--cached")
    assert "+line three" not in tree.git("diff", "--cached")
    await hands.press(button(page, "Discard list.txt"))
    await expect(page.get_by_text("Nothing is changed that is not staged.")).to_be_visible()
    assert "line 3\n" in tree.read("list.txt")
    await hands.press(button(page, "Undo discard"))
    await expect(row(page, "line three")).to_be_visible()
    assert tree.read("list.txt") == BOTH_ENDS
    await hands.press(button(page, "Stage all"))
    await expect(page.locator(".file")).to_have_count(0)
    await hands.press(button(page, "Staged"))
    await hands.press(button(page, "Unstage list.txt"))
    await expect(page.get_by_text("Nothing is staged.")).to_be_visible()
    assert tree.git("diff", "--cached") == ""


async def test_a_discard_is_undone_from_where_it_is_told(page: Page, tree: Tree) -> None:
    tree.write("new.txt", "precious\n")
    await show(page, tree)
    await button(page, "Discard new.txt").click()
    await expect(page.locator(".toast")).to_contain_text("What was changed in “new.txt”")
    assert not (tree.root / "new.txt").exists()
    await button(page.locator(".toast"), "Undo").click()
    await expect(row(page, "precious")).to_be_visible()
    assert tree.read("new.txt") == "precious\n"


async def test_letters_do_what_they_do_in_the_terminal(page: Page, two_hunks: Tree) -> None:
    await show(page, two_hunks)
    await expect(row(page, "line three")).to_be_visible()
    await page.keyboard.press("n")
    await expect(button(file(page, "list.txt"), "list.txt")).to_be_focused()
    await page.keyboard.press("n")
    await page.keyboard.press("n")
    await expect(page.locator(".diff-row.hunk").nth(1)).to_be_focused()
    await page.keyboard.press("s")
    await expect(page.locator(".diff-row.hunk")).to_have_count(1)
    await page.keyboard.press("v")
    await expect(button(page, "Staged")).to_have_attribute("aria-pressed", "true")
    await expect(row(page, "line twenty-eight")).to_be_visible()
    await page.keyboard.press("a")
    await expect(page.locator(".file")).to_have_count(0)
    await page.keyboard.press("v")
    await page.keyboard.press("v")
    await expect(page.locator(".diff-row.hunk")).to_have_count(2)
    await page.keyboard.press("n")
    await page.keyboard.press("x")
    await expect(page.locator(".file")).to_have_count(0)
    await page.keyboard.press("z")
    await expect(page.locator(".diff-row.hunk")).to_have_count(2)


# Comments -----------------------------------------------------------------------------------------


async def test_lines_are_marked_commented_on_and_sent_as_one_message(
    hands: Hands, two_hunks: Tree, session: Any, other: Socket
) -> None:
    page = hands.page
    await show(page, two_hunks)
    await expect(row(page, "line three")).to_be_visible()
    if isinstance(hands, Keys):
        await hands.reach(button(file(page, "list.txt"), "list.txt"))
        for _ in range(4):
            await page.keyboard.press("ArrowDown")
        await expect(row(page, "line three")).to_be_focused()
        await expect(row(page, "line three")).to_have_accessible_name("added, line 3: line three")
        await page.keyboard.press("Shift+ArrowDown")
        await page.keyboard.press("c")
    else:
        for text in ("line three", "line 4"):
            await hands.press(row(page, text).locator(".no").last)
        await expect(page.get_by_role("group", name="Marked lines")).to_contain_text("2 lines")
        await hands.press(button(page, "Comment"))
    await page.keyboard.type("Why in words?")
    await hands.press(button(page, "Keep"))
    await hands.press(page.locator(".diff-row.hunk").nth(1).get_by_role("button", name="Comment"))
    await page.keyboard.type("No")
    await hands.press(button(page, "Keep"))
    await page.reload()
    await expect(page.locator(".said")).to_have_count(2)
    review = page.get_by_role("region", name="Comments to send")
    second = review.get_by_role("group", name="Comment on list.txt:28", exact=True)
    await hands.press(button(second, "Edit"))
    await hands.write(page.locator(".said textarea"), "No, never")
    await hands.press(button(page, "Keep"))
    await hands.press(button(review, "Send"))
    await expect(page.locator(".toast").first).to_contain_text("Sent to “Fix the parser”.")
    await expect(page.locator(".comment")).to_have_count(0)
    quoted = "+line three\n line 4"
    assert await sent_to(other, session) == [
        "Please look at these comments on the changes:\n\n"
        f"`list.txt:3-4`\n```diff\n{quoted}\n```\nWhy in words?\n\n"
        "`list.txt:28`\n```diff\n-line 28\n+line twenty-eight\n```\nNo, never"
    ]
    await page.reload()
    await expect(row(page, "line three")).to_be_visible()
    await expect(page.locator(".comment")).to_have_count(0)


async def test_comments_go_to_a_new_session_where_there_is_none_and_move_with_their_lines(
    page: Page, two_hunks: Tree, other: Socket
) -> None:
    await show(page, two_hunks)
    await row(page, "line three").locator(".no").last.click()
    await button(page, "Comment").click()
    await page.keyboard.type("Why?")
    await page.keyboard.press("Control+Enter")
    two_hunks.write("list.txt", "one\ntwo\n" + BOTH_ENDS)
    await tell(other, two_hunks)
    review = page.get_by_role("region", name="Comments to send")
    await expect(review).to_contain_text("list.txt:5")
    await button(page, "Stage all").click()
    await expect(page.locator(".file")).to_have_count(0)
    await expect(review).not_to_contain_text("Its lines are gone")
    two_hunks.git("reset", "--quiet")
    two_hunks.write("list.txt", NUMBERS.replace("line 1\n", "one\n"))
    await tell(other, two_hunks)
    await expect(review).to_contain_text("Its lines are gone")
    await button(review, "Send").click()
    await expect(review).to_be_hidden()
    [made] = await other.call("list_sessions", worktreeId=two_hunks.id)
    assert "`list.txt:5` (these lines have changed since)" in (await sent_to(other, made))[0]


async def test_a_comment_that_is_begun_outlives_a_reload(page: Page, two_hunks: Tree) -> None:
    await show(page, two_hunks)
    await row(page, "line three").locator(".no").last.click()
    await button(page, "Comment").click()
    await page.keyboard.type("half a thou")
    await page.reload()
    await expect(page.locator(".said textarea")).to_have_value("half a thou")
    await expect(button(page, "Send")).to_be_disabled()
    await button(page, "Cancel").click()
    await expect(page.locator(".said")).to_have_count(0)


# Git ----------------------------------------------------------------------------------------------


async def test_changes_are_committed_and_pushed(
    hands: Hands, two_hunks: Tree, other: Socket
) -> None:
    page, tree = hands.page, two_hunks
    await show(page, tree)
    await hands.press(button(page, "Stage list.txt"))
    await expect(page.locator(".file")).to_have_count(0)
    tree.write("later.txt", "1\n")
    await tell(other, tree)
    await expect(file(page, "later.txt")).to_be_visible()
    await hands.press(button(page, "Commit"))
    form = page.locator("form.git-form")
    await expect(form.get_by_role("radio", name="What is staged: 1 file")).to_be_checked()
    await hands.press(form.get_by_role("button", name="Commit", exact=True))
    await expect(form.get_by_role("alert")).to_contain_text("Write what the commit does first")
    await hands.write(form.get_by_role("textbox", name="Commit message"), "Count in words")
    await page.reload()
    await hands.press(button(page, "Commit"))
    await expect(form.get_by_role("textbox")).to_have_value("Count in words")
    await hands.press(form.get_by_role("button", name="Commit", exact=True))
    await expect(page.get_by_text("Committed as ")).to_be_visible()
    assert tree.git("log", "-1", "--format=%s").strip() == "Count in words"
    assert tree.git("status", "--porcelain").strip() == "?? later.txt"
    await hands.press(button(page, "Push"))
    await expect(page.get_by_text("Pushed.")).to_be_visible()
    branch = tree.git("branch", "--show-current").strip()
    assert tree.git("rev-parse", "HEAD") == tree.git("rev-parse", f"origin/{branch}")


async def test_a_commit_is_cancelled_where_it_was_begun(
    page: Page, two_hunks: Tree, repository: Path
) -> None:
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexec sleep 600\n")
    hook.chmod(0o755)
    await show(page, two_hunks)
    await button(page, "Commit").click()
    form = page.locator("form.git-form")
    await form.get_by_role("textbox").fill("Never")
    await form.get_by_role("button", name="Commit", exact=True).click()
    await expect(form.get_by_role("status")).to_contain_text("Committing …")
    await form.get_by_role("button", name="Cancel").click()
    await expect(form.get_by_role("alert")).to_contain_text("cancel")
    await expect(form.get_by_role("textbox")).to_have_value("Never")
    assert "Never" not in two_hunks.git("log", "-1", "--format=%s")


@pytest.mark.parametrize("place", ["diff", "worktree"])
async def test_a_conflict_is_given_to_a_session_or_called_off(
    place: str, page: Page, tree: Tree, repository: Path, session: Any, other: Socket
) -> None:
    tree.commit("README.md", "# Ours\n")
    theirs = Tree("", repository)
    theirs.commit("README.md", "# Theirs\n")
    theirs.git("push", "--quiet", "origin", "HEAD")
    await page.goto(f"/#/{place}/{tree.id}")
    await page.get_by_role("button", name="Pull main").click()
    stopped = page.get_by_role("group", name="What stopped in the middle")
    await expect(stopped).to_contain_text("The merge stopped: 1 conflict")
    await expect(stopped.get_by_role("link", name="README.md")).to_be_visible()
    await expect(page.get_by_role("group", name="What git said")).to_contain_text("CONFLICT")
    if place == "diff":
        await expect(file(page, "README.md")).to_contain_text("conflict")
        await expect(button(page, "Discard README.md")).to_have_count(0)
    await button(page, "Let the session resolve it").click()
    await expect(page.locator(".toast")).to_contain_text("Sent to “Fix the parser”.")
    assert (await sent_to(other, session))[0].endswith("Files:\n- README.md")
    await button(stopped, "Abort the merge").click()
    await button(page.get_by_role("dialog"), "Abort the merge").click()
    await expect(stopped).to_be_hidden()
    assert tree.read("README.md") == "# Ours\n"


async def test_a_refused_pull_request_keeps_what_was_written(
    page: Page, tree: Tree, repository: Path
) -> None:
    subprocess.run(["git", "remote", "remove", "origin"], cwd=repository, check=True)
    await page.goto(f"/#/worktree/{tree.id}")
    await button(page, "Pull request").click()
    form = page.locator("form.git-form")
    await form.get_by_role("textbox", name="Title").fill("Count in words")
    await form.get_by_role("checkbox", name="as a draft").check()
    await button(form, "Push and open").click()
    await expect(form.get_by_role("alert")).to_contain_text("The repository has no remote.")
    await page.reload()
    await button(page, "Pull request").click()
    await expect(form.get_by_role("textbox", name="Title")).to_have_value("Count in words")
    await expect(form.get_by_role("checkbox", name="as a draft")).to_be_checked()
