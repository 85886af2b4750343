"""The page without JavaScript with `curl`: the life of a session by links and forms."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contract.conftest import make_program
from tests.patience import PATIENCE
from tests.program import Program, Serving, until
from tests.server.lite.strict_html import StrictPage

MAX_PAGE_BYTES = 15_000
"""Maximum size of a page."""


@pytest.fixture(scope="module", name="program")
def program_fixture(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return make_program(tmp_path_factory.mktemp("lite"))


@pytest.fixture(scope="module", name="served")
def served_fixture(program: Program) -> Iterator[Serving]:
    with program.serving("--demo") as served:
        yield served


@pytest.fixture(scope="module")
def worktree(program: Program, served: Serving) -> Path:
    """The path of a worktree in a new project."""
    return Path(str(program.create_ready_worktree(program.make_repository())["path"]))


@dataclass
class Curl:
    """`curl` with a cookie jar."""

    served: Serving
    jar: Path
    options: tuple[str, ...] = ()

    def __call__(self, path: str, *more: str) -> StrictPage:
        """Get the page at a path, following redirects; it must exist and be small, valid HTML."""
        status, page = self.answer(path, *more)
        assert status == 200, (status, path, page.text)
        assert len(page.source) < MAX_PAGE_BYTES
        return page

    def answer(self, path: str, *more: str) -> tuple[int, StrictPage]:
        """Get the status and the page."""
        jar = str(self.jar)
        ran = subprocess.run(
            ["curl", "--silent", "--show-error", "--location", "--cookie", jar,
             "--cookie-jar", jar, "--write-out", "\n%{http_code}", *self.options, *more,
             self.served.base_url + path],
            capture_output=True, text=True, timeout=PATIENCE, check=True,
        )  # fmt: skip
        body, _, status = ran.stdout.rpartition("\n")
        return int(status), StrictPage(body)

    def submit(self, page: StrictPage, name: str, /, **changed: str) -> StrictPage:
        """Submit a form with these fields or buttons; returns the resulting page."""
        form = page.form(name)
        fields = {**form.fields, **changed}
        sent = [part for key in fields for part in ("--data-urlencode", f"{key}={fields[key]}")]
        return self(form.action, *sent)

    def submit_all(
        self, page: StrictPage, name: str, *more: tuple[str, str], tick: str = ""
    ) -> StrictPage:
        """Submit a form with all values of its fields, and with each checkbox named `tick`."""
        ticked = [(tick, value) for value in page.values(tick)]
        fields = [pair for pair in page.form(name).values if pair[0] != tick]
        sent = [f"{key}={value}" for key, value in [*fields, *ticked, *more]]
        return self(
            page.form(name).action, *(part for s in sent for part in ("--data-urlencode", s))
        )

    def until(self, path: str, words: str) -> StrictPage:
        """Reload the page until it contains these words."""
        pages: list[StrictPage] = []

        def has_words() -> bool:
            pages.append(self(path))
            return words in pages[-1].text

        until(has_words, f"{path} has {words!r}")
        return pages[-1]

    def until_chosen(self, path: str, worktrees: list[dict[str, object]]) -> None:
        """Reload the page until these worktrees are chosen on it, in this order."""
        ids = [worktree["id"] for worktree in worktrees]
        until(lambda: self(path).values("worktree", checked=True) == ids, f"{path} chooses {ids}")


@pytest.fixture
def curl(served: Serving, tmp_path: Path) -> Curl:
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    return Curl(served, tmp_path / "jar")


@pytest.fixture
def signed_in(curl: Curl, served: Serving) -> Curl:
    status, page = curl.answer("/lite")
    assert status == 401
    curl.submit(page, "sign-in", token=served.token)
    return curl


def git(directory: Path, *words: str) -> str:
    """Run git."""
    ran = subprocess.run(
        ["git", "-C", str(directory), *words], capture_output=True, text=True, check=True
    )
    return ran.stdout


def create_session(curl: Curl, message: str, mode: str) -> tuple[str, StrictPage]:
    """Create a session with this message; returns its path and page."""
    page = curl(curl("/lite").links()["Worktrees"])
    name = next(name for name, to in page.links().items() if to.startswith("/lite/worktrees/"))
    page = curl(page.links()[name])
    page = curl.submit(page, "sessions", message=message, mode=mode, backend="demo", name=message)
    return page.form("messages").action.removesuffix("/messages"), page


def test_a_plan_is_approved_and_carried_out(signed_in: Curl, worktree: Path) -> None:
    curl = signed_in
    path, _ = create_session(curl, "/demo plan Look around; Write it down", "plan")
    page = curl.until(path, "Approve this plan?")
    assert "has a plan" in curl("/lite").text
    confirmation = curl.submit(page, "approve", mode="yolo")
    assert "Approve in yolo mode? It will not ask again" in confirmation.text
    curl.submit(page, "approve", mode="build")
    page = curl.until(path, "approved → build")
    page = curl.until(path, "idle")
    assert page.form("mode").fields["mode"] == "build"
    curl.submit(page, "messages", message="/demo write notes.txt: by curl\n")
    page = curl.until(path, "notes.txt done")
    assert "by curl" in (worktree / "notes.txt").read_text()
    edit = next(to for to in page.links().values() if "part=" in to)
    assert "by curl" in curl(edit).text


def test_a_question_and_a_permission_are_answered(signed_in: Curl, worktree: Path) -> None:
    curl = signed_in
    path, _ = create_session(curl, "/demo ask Tea or coffee? | Tea | Coffee", "build")
    page = curl.until(path, "The agent asks")
    page = curl.submit(page, "answer", q0="1")
    page = curl.until(path, "→ Coffee")
    page = curl.until(path, "idle")
    curl.submit(page, "messages", message="/demo permission touch never")
    page = curl.until(path, "Allow ")
    curl.submit(page, "permission", decision="deny", reason="leave it alone")
    page = curl.until(path, "idle")
    assert "denied" in page.text
    assert "leave it alone" in curl(page.links()["bash"]).text
    assert not (worktree / "never").exists()


@pytest.mark.usefixtures("worktree")
def test_usage_is_a_table(signed_in: Curl, worktree: Path) -> None:
    page = signed_in("/lite/usage?by=day&days=all")
    assert "Total" in page.text
    assert "by model" in page.text
    assert signed_in("/lite/usage?by=nonsense&days=-1").text


def test_a_run_is_stopped_and_its_queue_cleared(signed_in: Curl) -> None:
    curl = signed_in
    path, _ = create_session(curl, "/demo wait 1000", "build")
    page = curl.until(path, "running")
    page = curl.submit(page, "messages", message="afterwards")
    assert "waiting: afterwards" in page.text
    (button,) = page.form("queue").buttons
    page = curl.submit(page, "queue", message_id=button[1])
    assert "waiting:" not in page.text
    refreshing = curl(page.links()["Refresh every 5 seconds"])
    assert re.search(r'http-equiv="refresh" content="5;url=/lite/sessions/', refreshing.source)
    curl.submit(refreshing, "stop")
    assert not curl.until(path, "idle").has_form("stop")


@pytest.mark.usefixtures("worktree")
def test_long_answers_are_read_in_small_pages(signed_in: Curl) -> None:
    curl = signed_in
    path, _ = create_session(curl, "/demo markdown 60", "build")
    page = curl.until(path, "idle")
    pages = 1
    while "Earlier" in page.links():
        page, pages = curl(page.links()["Earlier"]), pages + 1
    assert "/demo markdown 60" in page.text
    assert pages > 5


@pytest.mark.usefixtures("worktree")
def test_a_script_needs_only_the_token_in_a_header(
    curl: Curl, served: Serving, signed_in: Curl
) -> None:
    path, _ = create_session(signed_in, "/demo say hello", "build")
    script = Curl(
        served, curl.jar.with_name("none"), ("-H", f"Authorization: Bearer {served.token}")
    )
    script(f"{path}/messages", "-d", "message=/demo say sent by a script")
    script.until(path, "sent by a script")


def test_signing_out_ends_access(signed_in: Curl) -> None:
    form = signed_in("/lite").form("sign-out")
    value = f"form_value={form.fields['form_value']}"
    status, page = signed_in.answer(form.action, "-d", value)
    assert (status, page.has_form("sign-in")) == (401, True)
    assert signed_in.answer("/lite/worktrees")[0] == 401


def test_a_worktree_is_created_reviewed_committed_pushed_and_archived(
    signed_in: Curl, program: Program, worktree: Path, tmp_path: Path
) -> None:
    curl = signed_in
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "--quiet", "--bare", str(remote))
    git(worktree, "remote", "add", "origin", str(remote))
    page = curl("/lite/worktrees")
    message = "/demo write fruit.txt: apples & pears"
    page = curl.submit(page, "worktrees", message=message, mode="build", backend="demo")
    session = page.form("messages").action.removesuffix("/messages")
    curl.until(session, "fruit.txt done")
    links = curl(session).links()
    page = curl(next(to for words, to in links.items() if " ▸ " in words))
    changes = curl(page.links()["Changes"])
    assert "Not staged" in changes.text and "fruit.txt untracked +1 −0" in changes.text
    assert "+apples & pears" in curl(changes.links()["fruit.txt"]).text
    page = curl.submit(changes, "commit", message="Add fruit")
    assert "Committed." in page.text
    assert "Committed on this branch" in curl(page.links()["Changes"]).text
    page = curl.submit(page, "push")
    assert "Pushed." in page.text
    assert "Add fruit" in git(remote, "log", "--all", "--format=%s")
    page = curl.submit(page, "archive")
    assert "Archived. Its files stay." in page.text
    name = re.search(r"<h1>([\w-]+)</h1>", page.source)
    assert name is not None and name[1] not in curl("/lite/worktrees").links()
    page = curl(curl("/lite/worktrees?archived=1").links()[name[1]])
    assert "Restored." in curl.submit(page, "restore").text
    shown = curl("/lite/worktrees").links()[name[1]]
    worktree_id = shown.rpartition("/")[2]
    program.call("remove_worktree", f"worktreeId={worktree_id}", "forGood=true", "force=true")
    archive = curl("/lite/worktrees?archived=1")
    assert "Deleted · 0 files · 1 session" in archive.text
    assert name[1] in curl.submit(archive, "worktrees").text
    assert curl("/lite/worktrees").links()[name[1]] == shown


def test_a_worktree_is_checked_landed_and_taken_back(signed_in: Curl, program: Program) -> None:
    curl = signed_in
    root = program.make_repository("gamma")
    (root / "spinney.json").write_text('{"scripts": {"check": "test -e pears.txt && echo ripe"}}')
    git(root, "add", "spinney.json")
    git(root, "commit", "--quiet", "-m", "Add a check")
    made = program.create_ready_worktree(root)
    program.call("trust_project_scripts", f"projectId={made['project_id']}")
    directory = Path(str(made["path"]))
    (directory / "pears.txt").write_text("two\n")
    git(directory, "add", "pears.txt")
    git(directory, "commit", "--quiet", "-m", "Count <the> pears")
    program.call("fetch_worktrees_status", f"projectId={made['project_id']}")
    desk = f"/lite/projects/{made['project_id']}/landing"
    page = curl.until(desk, "not run")
    assert desk in curl("/lite/worktrees").links().values()
    landing = page.links()[str(made["name"])]
    page = curl(landing)
    assert "1 commit, 1 file +1 −0 into 'main'." in page.text
    assert "The check runs." in curl.submit(page, "check").text
    page = curl.until(landing, "passed.")
    assert "ripe" in curl(page.links()["Output"]).text
    page = curl(page.links()["squash"])
    assert "Count <the> pears" in page.form("land").fields["message"]
    page = curl.submit(page, "land", message="Count pears", after="keep")
    assert "Landed." in page.text
    assert git(root, "log", "-1", "--format=%s") == "Count pears\n"
    page = curl.submit(page, "undo-landing")
    assert "The landing was taken back." in page.text
    assert git(root, "log", "-1", "--format=%s") == "Add a check\n"
    stale = {**curl(landing).form("land").fields, "base_commit": "0" * 40}
    fields = [part for key in stale for part in ("--data-urlencode", f"{key}={stale[key]}")]
    status, page = curl.answer(f"/lite/worktrees/{made['id']}/land", *fields)
    assert status == 409
    assert page.has_form("land")


def test_a_train_lands_and_the_sweep_deletes_what_it_brought_in(
    signed_in: Curl, program: Program
) -> None:
    curl = signed_in
    root = program.make_repository("delta")
    (root / "spinney.json").write_text('{"scripts": {"check": "echo ripe && test ! -e red"}}')
    git(root, "add", "spinney.json")
    git(root, "commit", "--quiet", "-m", "Add a check")
    made = [program.create_ready_worktree_named(root, name) for name in ("pears", "red")]
    for worktree in made:
        directory = Path(str(worktree["path"]))
        (directory / str(worktree["name"])).write_text("two\n")
        git(directory, "add", ".")
        git(directory, "commit", "--quiet", "-m", f"Add {worktree['name']}")
    program.call("trust_project_scripts", f"projectId={made[0]['project_id']}")
    program.call("fetch_worktrees_status", f"projectId={made[0]['project_id']}")
    desk = f"/lite/projects/{made[0]['project_id']}/landing"
    train = curl.until(desk, "red").links()["Train"]

    curl.until_chosen(train, made)
    curl.submit_all(curl(train), "start")
    page = curl.until(train, "It stopped. 'main' has not been touched.")
    assert "pears ready, check passed" in page.text and "left out" not in page.text
    assert "ripe" in curl(page.links()["check failed"]).text
    assert git(root, "log", "-1", "--format=%s") == "Add a check\n"
    assert "Landed." in curl.submit(page, "land", after="keep").text
    assert git(root, "log", "-1", "--format=%s", "--no-merges", "--topo-order") == "Add pears\n"
    assert "It landed on 'main'." in curl(train).text
    assert "The train was discarded." in curl.submit(curl(train), "discard").text
    curl.until_chosen(train, made[1:])

    sweep = curl(desk).links()["Sweep"]
    page = curl(curl(sweep).links()["Measure their sizes"])
    assert re.search(r"pears \d+ kB · used now · merged", page.text), page.text
    page = curl.submit_all(page, "sweep", ("action", "delete"), tick="worktree")
    assert "red 1 commit that nothing else has" in page.text
    assert len(curl(sweep).values("worktree")) == 2
    page = curl.submit_all(page, "sweep")
    assert "Done with 1 of 2 worktrees" in page.text
    assert curl(sweep).values("worktree") == [made[1]["id"]]
    assert (
        "pears"
        in curl.submit(page, "worktrees", recovery=page.form("worktrees").buttons[0][1]).text
    )
    assert len(curl(sweep).values("worktree")) == 2


def test_the_sessions_of_a_removed_project_are_brought_back(
    signed_in: Curl, program: Program, worktree: Path, tmp_path: Path
) -> None:
    other = tmp_path / "beta"
    git(tmp_path, "clone", "--quiet", str(worktree), str(other))
    made = program.create_ready_worktree(other)
    program.call("create_session", f"worktreeId={made['id']}", "name=Ripe")
    program.call("remove_project", f"projectId={made['project_id']}")
    archive = signed_in("/lite/worktrees?archived=1")
    assert "beta Project removed · 1 session" in archive.text
    assert "Ripe" in signed_in.submit(archive, "worktrees").text


def test_a_worktree_that_cannot_be_created_says_why_and_keeps_what_was_typed(
    signed_in: Curl, worktree: Path
) -> None:
    page = signed_in("/lite/worktrees")
    form = page.form("worktrees")
    sent = {**form.fields, "branch": "no-such-branch", "message": "Read <all> of it"}
    fields = [part for key in sent for part in ("--data-urlencode", f"{key}={sent[key]}")]
    status, page = signed_in.answer(form.action, *fields)
    assert status >= 400
    assert "no-such-branch" in page.text
    assert page.form("worktrees").fields["message"] == "Read <all> of it"
