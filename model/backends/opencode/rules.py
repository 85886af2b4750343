"""The user's own permission rules in OpenCode's configuration of a directory: what they allow, deny
and want to be asked about. Our plugin reports them (`rules.js`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from model.backends.json_values import as_object, as_objects
from model.backends.opencode.policy import Verdict
from model.base.errors import SpinneyError

_RULES_AGENT: Final = "spinney-rules"
"""The agent whose options contain the rules; it is never used."""

_NOT_LOADED: Final = (
    "OpenCode did not load Spinney's plugin, which enforces the modes, so nothing can run."
    " If OPENCODE_PURE is set, unset it. Otherwise search for 'plugin' in OpenCode's log."
)

_Rule = tuple[str, str, Verdict]


class Rules:
    """The rules by agent; the last matching rule applies."""

    def __init__(self, rules: Mapping[str, Sequence[_Rule]]) -> None:
        self._rules = rules

    @classmethod
    def parse(cls, agents: object) -> "Rules":
        """Parse the rules from the program's list of agents.

        Raises `backend_unavailable` if our plugin is not loaded.
        """
        for agent in as_objects(agents):
            if agent.get("name") == _RULES_AGENT:
                by_agent = as_object(as_object(agent.get("options")).get("rules")).items()
                return cls({str(name): tuple(_rules(rules)) for name, rules in by_agent})
        raise SpinneyError(_NOT_LOADED, "backend_unavailable")

    def verdict(self, agent: str, permission: str, patterns: Iterable[str]) -> Verdict | None:
        """The user's verdict for this agent; `None` if no rule matches."""
        rules = self._rules.get(agent, self._rules.get("", ()))
        verdicts = {_last_match(rules, permission, pattern) for pattern in patterns}
        if "deny" in verdicts:
            return "deny"
        if "ask" in verdicts:
            return "ask"
        return "allow" if verdicts == {"allow"} else None


def _last_match(rules: Sequence[_Rule], permission: str, pattern: str) -> Verdict | None:
    for name, wildcard, verdict in reversed(rules):
        if _matches(permission, name) and _matches(pattern, wildcard):
            return verdict
    return None


def _matches(text: str, wildcard: str) -> bool:
    return _expression(wildcard).fullmatch(text.replace("\\", "/")) is not None


@lru_cache(maxsize=1000)
def _expression(wildcard: str) -> re.Pattern[str]:
    """Compile a wildcard like the program does: a final ` *` also matches nothing."""
    wildcard = wildcard.replace("\\", "/")
    source = _source(wildcard)
    if wildcard.endswith(" *"):
        source = f"{_source(wildcard[:-2])}|{source}"
    return re.compile(source, re.DOTALL)


def _source(wildcard: str) -> str:
    """Translate a wildcard; text between two stars matches its first occurrence only (atomically).

    Later occurrences cannot help, and with backtracking an expression with three stars takes
    minutes for a long command.
    """
    first, *others = (re.escape(part).replace(r"\?", ".") for part in wildcard.split("*"))
    if not others:
        return first
    *between, last = others
    return "".join((first, *(f"(?>.*?{part})" for part in between), ".*", last))


def _rules(value: Any) -> Iterator[_Rule]:
    for rule in value if isinstance(value, list) else ():
        match rule:
            case [str(name), str(pattern), ("allow" | "ask" | "deny") as verdict]:
                yield name, pattern, verdict
