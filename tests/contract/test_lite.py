"""The page without JavaScript as `curl` alone meets it: a session's life by links and forms."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contract.conftest import program_in
from tests.patience import PATIENCE
from tests.program import Program, Serving, until
from tests.server.lite.strict_html import Read

MOST = 15_000
"""Bytes of a page."""


@pytest.fixture(scope="module", name="program")
def one_program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return program_in(tmp_path_factory.mktemp("lite"))


@pytest.fixture(scope="module", name="served")
def one_served(program: Program) -> Iterator[Serving]:
    with program.serving("--demo") as served:
        yield served


@pytest.fixture(scope="module")
def worktree(program: Program, served: Serving) -> Path:
    """The path of a worktree in a new project."""
    return Path(str(program.ready_worktree(program.made_repository())["path"]))


@dataclass
class Curl:
    """`curl` with a jar for its cookies."""

    served: Serving
    jar: Path
    options: tuple[str, ...] = ()

    def __call__(self, path: str, *more: str) -> Read:
        """The page at a path, after all that leads on; it must be there, right and small."""
        status, page = self.answer(path, *more)
        assert status == 200, (status, path, page.text)
        assert len(page.source) < MOST
        return page

    def answer(self, path: str, *more: str) -> tuple[int, Read]:
        """The status and the page."""
        jar = str(self.jar)
        ran = subprocess.run(
            ["curl", "--silent", "--show-error", "--location", "--cookie", jar,
             "--cookie-jar", jar, "--write-out", "\n%{http_code}", *self.options, *more,
             self.served.base_url + path],
            capture_output=True, text=True, timeout=PATIENCE, check=True,
        )  # fmt: skip
        body, _, status = ran.stdout.rpartition("\n")
        return int(status), Read(body)

    def submit(self, page: Read, name: str, /, **changed: str) -> Read:
        """What a form of the page leads to, with these fields filled in or buttons pressed."""
        form = page.form(name)
        fields = {**form.fields, **changed}
        sent = [part for key in fields for part in ("--data-urlencode", f"{key}={fields[key]}")]
        return self(form.action, *sent)

    def until(self, path: str, words: str) -> Read:
        """The page once it has these words, by asking again as a person would."""
        pages: list[Read] = []

        def came() -> bool:
            pages.append(self(path))
            return words in pages[-1].text

        until(came, f"{path} has {words!r}")
        return pages[-1]


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


def begun(curl: Curl, message: str, mode: str) -> tuple[str, Read]:
    """A session that began with this message, by the links that lead there."""
    page = curl(curl("/lite").links()["Worktrees"])
    name = next(name for name, to in page.links().items() if to.startswith("/lite/worktrees/"))
    page = curl(page.links()[name])
    page = curl.submit(page, "sessions", message=message, mode=mode, backend="demo", name=message)
    return page.form("messages").action.removesuffix("/messages"), page


def test_the_whole_life_of_a_plan(signed_in: Curl, worktree: Path) -> None:
    curl = signed_in
    path, _ = begun(curl, "/demo plan Look around; Write it down", "plan")
    page = curl.until(path, "Approve this plan?")
    assert "has a plan" in curl("/lite").text
    sure = curl.submit(page, "approve", mode="yolo")
    assert "Approve in yolo mode? It will not ask again" in sure.text
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
    path, _ = begun(curl, "/demo ask Tea or coffee? | Tea | Coffee", "build")
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
def test_a_run_is_stopped_and_its_queue_cleared(signed_in: Curl) -> None:
    curl = signed_in
    path, _ = begun(curl, "/demo wait 1000", "build")
    page = curl.until(path, "running")
    page = curl.submit(page, "messages", message="afterwards")
    assert "waiting: afterwards" in page.text
    (button,) = page.form("queue").buttons
    page = curl.submit(page, "queue", message_id=button[1])
    assert "waiting:" not in page.text
    renewed = curl(page.links()["Refresh every 5 seconds"])
    assert re.search(r'http-equiv="refresh" content="5;url=/lite/sessions/', renewed.source)
    curl.submit(renewed, "stop")
    assert not curl.until(path, "idle").has_form("stop")


@pytest.mark.usefixtures("worktree")
def test_long_answers_are_read_in_small_pages(signed_in: Curl) -> None:
    curl = signed_in
    path, _ = begun(curl, "/demo markdown 60", "build")
    page = curl.until(path, "idle")
    pages = 1
    while "Earlier" in page.links():
        page, pages = curl(page.links()["Earlier"]), pages + 1
    assert "/demo markdown 60" in page.text
    assert pages > 5


@pytest.mark.usefixtures("worktree")
def test_the_token_in_a_header_is_all_that_a_script_needs(
    curl: Curl, served: Serving, signed_in: Curl
) -> None:
    path, _ = begun(signed_in, "/demo say hello", "build")
    script = Curl(
        served, curl.jar.with_name("none"), ("-H", f"Authorization: Bearer {served.token}")
    )
    script(f"{path}/messages", "-d", "message=/demo say sent by a script")
    script.until(path, "sent by a script")


def test_signing_out_shuts_the_door(signed_in: Curl) -> None:
    form = signed_in("/lite").form("sign-out")
    value = f"form_value={form.fields['form_value']}"
    status, page = signed_in.answer(form.action, "-d", value)
    assert (status, page.has_form("sign-in")) == (401, True)
    assert signed_in.answer("/lite/worktrees")[0] == 401
