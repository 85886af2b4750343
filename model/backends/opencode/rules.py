"""The person's own rules for OpenCode, as its configuration has them for a directory: what they
allow, deny and want to be asked about. Our plugin tells them (`rules.js`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from model.backends.opencode.policy import Verdict
from model.base.errors import SpinneyError

_TOLD_BY: Final = "spinney-rules"
"""The agent that carries them, and never works."""

_NOT_LAID: Final = (
    "OpenCode did not load what Spinney's modes stand on, so nothing runs. It needs plugins for it:"
    " unset OPENCODE_PURE. Otherwise look for “plugin” in OpenCode's log."
)

_Rule = tuple[str, str, Verdict]


class Rules:
    """The rules by agent; the last one that matches holds."""

    def __init__(self, rules: Mapping[str, Sequence[_Rule]]) -> None:
        self._rules = rules

    @classmethod
    def of(cls, agents: object) -> "Rules":
        """From what the program tells of its agents.

        Raises `backend_unavailable` where our own rules are not in force there.
        """
        for agent in agents if isinstance(agents, list) else ():
            if isinstance(agent, Mapping) and agent.get("name") == _TOLD_BY:
                options = agent.get("options")
                told = options.get("rules") if isinstance(options, Mapping) else None
                listed = told.items() if isinstance(told, Mapping) else ()
                return cls({str(name): tuple(_rules(rules)) for name, rules in listed})
        raise SpinneyError(_NOT_LAID, "backend_unavailable")

    def word(self, agent: str, permission: str, patterns: Iterable[str]) -> Verdict | None:
        """What the person says of it to this agent; `None` where that is nothing."""
        rules = self._rules.get(agent, self._rules.get("", ()))
        said = {_last(rules, permission, pattern) for pattern in patterns}
        if "deny" in said:
            return "deny"
        if "ask" in said:
            return "ask"
        return "allow" if said == {"allow"} else None


def _last(rules: Sequence[_Rule], permission: str, pattern: str) -> Verdict | None:
    for name, wildcard, verdict in reversed(rules):
        if _matches(permission, name) and _matches(pattern, wildcard):
            return verdict
    return None


def _matches(text: str, wildcard: str) -> bool:
    return _expression(wildcard).fullmatch(text.replace("\\", "/")) is not None


@lru_cache(maxsize=1000)
def _expression(wildcard: str) -> re.Pattern[str]:
    """As the program reads one: the stars at an end, behind a space, may stand for nothing."""
    wildcard = wildcard.replace("\\", "/")
    source = _source(wildcard)
    if wildcard.endswith(" *"):
        source = f"{_source(wildcard[:-2])}|{source}"
    return re.compile(source, re.DOTALL)


def _source(wildcard: str) -> str:
    """What is between two stars counts where it stands first: none of its other places could help.

    Going back to them, an expression with three stars takes minutes for a long command.
    """
    first, *others = (re.escape(part).replace(r"\?", ".") for part in wildcard.split("*"))
    if not others:
        return first
    *between, last = others
    return "".join((first, *(f"(?>.*?{part})" for part in between), ".*", last))


def _rules(told: Any) -> Iterator[_Rule]:
    for rule in told if isinstance(told, list) else ():
        match rule:
            case [str(name), str(pattern), ("allow" | "ask" | "deny") as verdict]:
                yield name, pattern, verdict
