"""What goes wrong with `glab` and GitLab, each with its sentence and the next step."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from model.base.errors import SpinneyError
from model.hosting.forge import ItemQuery
from model.hosting.gitlab.answers import Answer, Project
from model.hosting.gitlab.errors import describe, to_error, to_failure
from model.hosting.gitlab.forge import GitLab
from model.hosting.gitlab.glab import PROGRAM
from model.hosting.program import Output
from tests.live.gitlab_stub import GitLabStub
from tests.model.git.repository import Repository

PROJECT = Project(Path(), "git.corp.example", "group/engine")


@pytest.mark.parametrize(
    ("status", "message", "sentence", "kind"),
    [
        (401, "401 Unauthorized", r"glab is not signed in to gitlab\.com", "backend_unavailable"),
        (403, "403 Forbidden", "does not have permission to do that in 'group", "forbidden"),
        (403, "insufficient_scope", "lacks the scope 'api'", "forbidden"),
        (404, "404 Project Not Found", "There is no project 'group/sub/engine' on", "not_found"),
        (404, "404 Not found", "The merge request no longer exists", "not_found"),
        (429, "Too many", "rate limit for this account is exceeded", "rate_limit_error"),
        (502, "Bad", r"has a problem at the moment \(see https://status", "backend_unavailable"),
        (405, "Non GET methods are not allowed for moved projects", "has moved", "conflict"),
        (422, {"base": ["a", "b"]}, "this version of glab does not show the reason", "conflict"),
        (400, "title is missing\x1b[31m", "GitLab refused: title is missing␛", "invalid_request"),
        (418, None, "GitLab refused: HTTP 418", "conflict"),
    ],
)  # fmt: skip
async def test_errors_of_the_service_are_explained(
    service: GitLabStub, root: Path, forge: GitLab, status: int, message: Any, sentence: str,
    kind: str,
) -> None:  # fmt: skip
    service.status, service.message = status, message
    with pytest.raises(SpinneyError, match=sentence) as refused:
        await forge.edit(root, 7, "Otters", None)
    assert refused.value.error_type == kind


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ('Get "https://x/login": dial tcp: lookup x: no such host', "cannot be reached"),
        ('Get "https://x/eof": unsupported protocol scheme', 'Get "https://x/eof": unsupp'),
        ("context deadline exceeded", "cannot be reached"),
        ("tls: failed to verify certificate: x509: unknown authority", "ca_cert FILE --host git"),
        ("no authentication source is provided. Login first", "glab auth login --hostname git"),
        ("unknown flag: --include", "unknown flag: --include"),
        ("", r"glab failed \(exit code 2\)"),
    ],
)
def test_errors_of_the_program_are_explained(said: str, sentence: str) -> None:
    with pytest.raises(SpinneyError, match=sentence):
        raise to_failure(PROJECT, Output("", said, 2))


def test_a_message_by_field_is_one_line_and_a_deep_one_is_cut() -> None:
    body = json.dumps({"message": {"base": ["a", "b"], "title": ["is long"]}})
    assert to_error(PROJECT, Answer(422, body)).message == "GitLab refused: a; b; title is long"
    message: Any = "end"
    for _ in range(900):
        message = [message]
    assert describe(message) == ""


async def test_the_program_is_missing_or_unreachable_or_has_no_account(
    service: GitLabStub, root: Path, forge: GitLab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITLAB_TOKEN", "another")
    with pytest.raises(SpinneyError, match=r"is not signed in to gitlab\.com, or its token"):
        await forge.check_access(root)
    service.host = "127.0.0.1:1"
    service.configure(tmp_path / "glab settings")
    with pytest.raises(SpinneyError, match=r"GitLab at gitlab\.com cannot be reached"):
        await forge.check_access(root)
    folder = tmp_path / "only git"
    folder.mkdir()
    (folder / "git").symlink_to(shutil.which("git") or "")
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(SpinneyError, match=r"'glab' is not installed\. Install it"):
        await forge.check_access(root)


async def test_no_request_is_sent_to_a_host_that_only_has_the_name(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    """A token in the environment would be sent to any host."""
    url = "https://gitlab.evil.example/group/engine/-/merge_requests/7"
    Repository(root).git("remote", "set-url", "origin", "https://gitlab.evil.example/a/b.git")
    for reading in (forge.check_access(root), forge.fetch_details(root, url)):
        with pytest.raises(SpinneyError, match=r"glab auth login --hostname gitlab\.evil"):
            await reading
    assert service.asked == []


async def test_without_a_remote_it_says_what_to_do(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    Repository(root).git("remote", "remove", "origin")
    with pytest.raises(SpinneyError, match="The repository has no remote on GitLab"):
        await forge.list_issues(root, ItemQuery())


async def test_an_inherited_setting_does_not_disturb_the_answers(
    service: GitLabStub, root: Path, forge: GitLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROMPT", "1")
    monkeypatch.setenv("DEBUG", "1")
    await forge.check_access(root)
    assert [each.path for each in service.asked] == [":p"]
    found = await PROGRAM.run(root, ("api", "x", "--hostname=gitlab.com"))
    assert found.err == "glab: 404 Not found (HTTP 404)\n"


async def test_a_configuration_that_glab_refuses_is_named(
    service: GitLabStub, root: Path, forge: GitLab, tmp_path: Path
) -> None:
    (tmp_path / "glab settings" / "config.yml").chmod(0o644)
    with pytest.raises(SpinneyError, match=r"cannot be used: failed to read .*`chmod 600 /.*yml`"):
        await forge.check_access(root)
