"""Open issues and pull requests of the hosting service."""

from model.domain.resources import Resource


class OpenIssue(Resource):
    """An open issue."""

    number: int
    title: str
    body: str = ""


class OpenPullRequest(Resource):
    """A pull request that is neither merged nor closed."""

    number: int
    title: str
    head_ref_name: str
    base_ref_name: str
