"""Messages to the demo agent: directives and the beginnings of ordinary sentences."""

from typing import Final

DIRECTIVES: Final = {
    "say": "/demo say yes {mark}",
    "ask": "/demo ask Red or blue {mark}? | red | blue",
    "permission": "/demo permission echo allowed {mark}",
    "plan": "/demo plan say one {mark}; say two {mark}",
    "write": "/demo write notes-{mark}.md: words {mark}",
    "stream": "/demo stream 60 30\n/demo say end {mark}",
    "markdown": "/demo markdown 2\n/demo say end {mark}",
    "think": "/demo think hm {mark}",
    "limit": "/demo say almost {mark}\n/demo fail rate_limit 1",
}

LASTING_LIMIT: Final = "/demo say almost {mark}\n/demo fail rate_limit 600"
"""Reaches a limit that does not reset while a journey lasts."""

LONG: Final = "/demo stream 150 40\n/demo say end {mark}"
"""Runs for some seconds, so that later messages are queued."""

RUN_COMMAND: Final = (
    "/demo run echo be''gun {mark}; until test -e {go}; do sleep 0.02; done; echo ov''er"
)
"""A command that prints a line, waits for the file `go` and prints another line."""
LAST_OUTPUT: Final = "over"
"""The last word that it prints; the command itself does not contain it in this form."""


def first_output(mark: str) -> str:
    """The first line that it prints, which the command does not contain either."""
    return f"begun {mark}"


OPENINGS: Final = (
    "actually no, do not do that", "and now", "also the tests", "all of it", "are you sure",
    "but first", "before that", "but why", "because of that", "both, please", "better not",
    "can you", "could we", "did it work", "do it another way", "don't", "explain", "every one",
    "fine", "first the tests", "go on", "good", "how so", "hold on", "hm", "if so", "I think",
    "is it done", "just do", "keep it", "let us", "leave that", "maybe", "make it shorter", "no",
    "not yet", "never mind", "only", "ok then", "or else", "please", "perhaps", "quite so",
    "read it", "right", "rather not", "so what", "stop", "skip that", "show me", "sure", "then",
    "try again", "that is wrong", "use the other", "undo that", "very well", "wait", "what for",
    "why", "we need", "exactly", "yes, but", "you forgot", "zero of these", "1 moment", "2 cups",
    "3 more",
)  # fmt: skip
"""Ordinary beginnings of messages. Most letters of the alphabet begin at least one."""
