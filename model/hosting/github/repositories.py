"""A repository on GitHub: who can review, and its branches."""

from pathlib import Path
from typing import Final
from urllib.parse import quote

from model.base.errors import SpinneyError
from model.git.hosts import list_hosting_remotes
from model.hosting.fields import get_fields, get_line, get_nodes
from model.hosting.github.api import find_repository, query, request

MAX_REVIEWERS: Final = 100

_PEOPLE: Final = """
query PossibleReviewers($owner: String!, $name: String!) {
  viewer { login }
  repository(owner: $owner, name: $name) { assignableUsers(first: 100) { nodes { login } } }
}
"""
_TEAMS: Final = """
query PossibleTeams($owner: String!) {
  organization(login: $owner) { teams(first: 100) { nodes { slug } } }
}
"""
_NO_SUCH_BRANCH: Final = 422


async def list_possible_reviewers(path: Path) -> list[str]:
    """Return people other than oneself, then teams as `organization/team`."""
    repository = await find_repository(path)
    answer = await query(
        path, repository.host, _PEOPLE, owner=repository.owner, name=repository.name
    )
    own = get_line(get_fields(answer.data, "viewer"), "login")
    nodes = get_nodes(answer.data, "repository", "assignableUsers")
    names = [get_line(node, "login") for node in nodes]
    people = sorted({name for name in names if name and name != own}, key=str.casefold)
    try:
        found = await query(path, repository.host, _TEAMS, owner=repository.owner)
    except SpinneyError:
        # The owner is a person, or the token may not read teams.
        return people[:MAX_REVIEWERS]
    slugs = [get_line(node, "slug") for node in get_nodes(found.data, "organization", "teams")]
    return [*people, *(f"{repository.owner}/{slug}" for slug in slugs if slug)][:MAX_REVIEWERS]


async def delete_branch(path: Path, branch: str) -> None:
    """Delete a branch of the repository that it is pushed to; does nothing if there is none."""
    remotes = await list_hosting_remotes(path)
    pushed_to = next((remote for remote in remotes if remote.name == "origin"), None)
    if pushed_to is None and len(remotes) == 1:
        pushed_to = remotes[0]
    repository = await find_repository(path, pushed_to.url if pushed_to else "")
    endpoint = f"{repository.endpoint}/git/refs/heads/{quote(branch, safe='/')}"
    answer = await request(
        path, repository.host, endpoint, method="DELETE", accept=(_NO_SUCH_BRANCH,)
    )
    if answer.status == _NO_SUCH_BRANCH and "does not exist" not in answer.body:
        raise SpinneyError(
            f"GitHub does not allow '{branch}' to be deleted; a rule of the repository may protect "
            "it. Delete it in the browser.",
            "conflict",
        )
