"""Branches and remotes of a repository."""

from model.domain.resource import Resource


class Branch(Resource):
    """A branch of a repository."""

    name: str
    current: bool


class Remote(Resource):
    """A remote of a repository; `url` contains no credentials."""

    name: str
    url: str
