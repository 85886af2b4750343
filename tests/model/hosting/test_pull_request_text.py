"""Who writes a pull request's title and description: a person, the agent, or the commits."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from model.backends import base
from model.commands.preferences import update_preferences
from model.commands.pull_requests import open_pull_request
from model.domain.events import TaskCompleted
from model.domain.resources import Worktree
from model.store.bus import Reader
from model.writing import writer as writing
from tests.fakes import DONE, FakeBackend, silence
from tests.model.git.place import Place
from tests.model.hosting.conftest import FakeGh

CREATED = "https://github.com/ada/engine/pull/7\n"
FROM_COMMIT = ("Teach the otter to swim", "It was about time.")


@pytest.fixture
def gh(fake_gh: FakeGh) -> FakeGh:
    fake_gh.answers("pr create", CREATED)
    return fake_gh


@pytest.fixture
async def news(place: Place, worktree: Worktree) -> Reader:
    """What happens from now on."""
    return place.workspace.bus.reader()


def writes(answer: str) -> object:
    def script(_: base.Prompt) -> Iterable[base.AgentEvent]:
        yield base.TextDelta("answer", answer)
        yield DONE

    return script


def proposed(gh: FakeGh) -> tuple[str, str]:
    """Title and body as `gh` was given them."""
    call = next(call for call in gh.calls if "create" in str(call["args"]))
    assert isinstance(call["args"], list)
    title = next(arg for arg in call["args"] if arg.startswith("--title="))
    return title.removeprefix("--title="), str(call["input"])


def notes(place: Place, news: Reader) -> list[TaskCompleted]:
    place.workspace.bus.seal()
    events = [published.event for published in news.take()[0]]
    return [e for e in events if isinstance(e, TaskCompleted) and e.task == "write_pull_request"]


def told(backend: FakeBackend) -> str:
    """What the agent was asked."""
    (agent,) = backend.agents.values()
    return str(agent.calls[0][1])


async def test_the_agent_writes_both_when_neither_is_given(
    place: Place, worktree: Worktree, gh: FakeGh, backend: FakeBackend, news: Reader
) -> None:
    backend.script = writes("<title>Let otters swim</title><body>They **can**.</body>")
    await open_pull_request(place.workspace, worktree.id)
    assert proposed(gh) == ("Let otters swim", "They **can**.")
    assert notes(place, news) == []


async def test_the_agent_reads_commits_files_and_differences(
    place: Place, worktree: Worktree, gh: FakeGh, backend: FakeBackend
) -> None:
    await open_pull_request(place.workspace, worktree.id)
    prompt = told(backend)
    assert "<branch>\notter, to be merged into main\n</branch>" in prompt
    assert "<commits>\nTeach the otter to swim\n\nIt was about time.\n</commits>" in prompt
    assert "new.txt | 1 +" in prompt.partition("<files>")[2].partition("</files>")[0]
    assert "\n+one\n" in prompt.partition("<differences>")[2].partition("</differences>")[0]


async def test_what_a_person_gives_is_taken_and_no_agent_is_asked(
    place: Place, worktree: Worktree, gh: FakeGh, backend: FakeBackend
) -> None:
    await open_pull_request(place.workspace, worktree.id, title="Mine", body="")
    assert proposed(gh) == ("Mine", "")
    assert backend.agents == {}


async def test_the_agent_writes_the_body_that_fits_a_given_title(
    place: Place, worktree: Worktree, gh: FakeGh, backend: FakeBackend
) -> None:
    backend.script = writes("<body>They can.</body>")
    await open_pull_request(place.workspace, worktree.id, title="Mine")
    assert proposed(gh) == ("Mine", "They can.")
    assert "<given_title>\nMine\n</given_title>" in told(backend)


async def test_the_agent_writes_the_title_that_fits_a_given_body(
    place: Place, worktree: Worktree, gh: FakeGh, backend: FakeBackend
) -> None:
    backend.script = writes("<title>Let\n otters swim</title>")
    await open_pull_request(place.workspace, worktree.id, body="Mine")
    assert proposed(gh) == ("Let otters swim", "Mine")
    assert "<given_description>\nMine\n</given_description>" in told(backend)


async def test_texts_are_no_longer_than_the_hosting_service_takes(
    place: Place, worktree: Worktree, gh: FakeGh, backend: FakeBackend
) -> None:
    backend.script = writes(f"<title>{'t' * 300}</title><body>{'b' * 70_000}</body>")
    await open_pull_request(place.workspace, worktree.id)
    assert proposed(gh) == ("t" * 256, "b" * 65_536)


def failed(_: base.Prompt) -> Iterable[base.AgentEvent]:
    yield base.TurnFailed("The provider is overloaded.", "backend_error")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (failed, "The provider is overloaded."),
        (silence, "Claude Code took longer than 0.01 seconds."),
        (writes("Certainly! Shall I go on?"), "The agent did not answer in the requested form"),
    ],
)
async def test_an_agent_that_fails_costs_a_note_and_not_the_pull_request(
    place: Place,
    worktree: Worktree,
    gh: FakeGh,
    backend: FakeBackend,
    news: Reader,
    monkeypatch: pytest.MonkeyPatch,
    script: object,
    reason: str,
) -> None:
    if script is silence:
        monkeypatch.setattr(writing, "TIMEOUT", 0.01)
    backend.script = script  # type: ignore[assignment]
    opened = await open_pull_request(place.workspace, worktree.id)
    assert opened.pr_number == 7
    assert proposed(gh) == FROM_COMMIT
    (note,) = notes(place, news)
    assert (note.ok, note.worktree_id) == (False, worktree.id)
    assert note.detail.startswith(
        f"The pull request's text comes from the commits, not from the agent: {reason}"
    )


async def test_without_an_agent_the_text_comes_from_the_commits_and_nobody_is_bothered(
    place: Place, worktree: Worktree, gh: FakeGh, backend: FakeBackend, news: Reader
) -> None:
    changes = {"magic_prompt_backends": {"pr_content_backend": "backend_c"}}
    await update_preferences(place.workspace, changes)
    await open_pull_request(place.workspace, worktree.id)
    assert proposed(gh) == FROM_COMMIT
    assert (backend.agents, notes(place, news)) == ({}, [])


@pytest.mark.parametrize(
    "name",
    [".github/PULL_REQUEST_TEMPLATE.md", "pull_request_template.md", "docs/Pull_Request_Template"],
)
async def test_the_repositorys_template_is_given_to_the_agent(
    place: Place, worktree: Worktree, gh: FakeGh, backend: FakeBackend, name: str
) -> None:
    place.in_worktree(worktree).commit(name, "## Why\n\n- [ ] tested\n")
    await open_pull_request(place.workspace, worktree.id)
    assert "<template>\n## Why\n\n- [ ] tested\n</template>" in told(backend)


async def test_a_template_that_is_a_link_leads_nowhere(
    place: Place, worktree: Worktree, gh: FakeGh, backend: FakeBackend, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a private key")
    folder = Path(worktree.path) / ".github"
    folder.mkdir()
    (folder / "pull_request_template.md").symlink_to(secret)
    tree = place.in_worktree(worktree)
    tree.git("add", "--all")
    tree.git("commit", "--quiet", "-m", "Add a template")
    await open_pull_request(place.workspace, worktree.id)
    assert "<template>" not in told(backend)
    assert "a private key" not in told(backend)


async def test_a_large_file_does_not_hide_the_others(
    place: Place, worktree: Worktree, gh: FakeGh, backend: FakeBackend
) -> None:
    tree = place.in_worktree(worktree)
    tree.write("a.lock", "locked\n" * 100_000)
    tree.commit("b.py", "print('otter')\n")
    await open_pull_request(place.workspace, worktree.id)
    differences = told(backend).partition("<differences>")[2].partition("</differences>")[0]
    assert "[cut off]" in differences
    assert "+print('otter')" in differences
    assert len(differences) < 70_000
