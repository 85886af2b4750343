"""What the search for secrets found before a commit, a push, or a text of a pull request."""

from typing import Literal

from pydantic import Field

from model.domain.resource import Resource

Publishing = Literal["commit", "push", "pull_request", "text"]


class SecretFinding(Resource):
    """A key, token or password in what would be committed or published."""

    path: str
    """The file; `title` or `description` of a pull request; `message` of a commit; `branch
    name`."""
    line: int | None = None
    commit: str = ""
    """The commit that has it, shortened; empty if it is not committed."""
    label: str
    """What it is, such as `GitHub token`."""
    excerpt: str
    """Its first characters."""
    fingerprint: str
    """Identifies the secret in this project, and does not reveal it; 16 hexadecimal digits."""


class SecretReport(Resource):
    """What was found, except for what is allowed in the project."""

    findings: list[SecretFinding] = Field(default_factory=list)
    """At most 100."""
    is_whole: bool = True
    """Whether everything was read; at most 32 MB of changes are."""
