"""What is said to the demo agent: its directives, and sentences as people begin them."""

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
}

OPENINGS: Final = (
    "actually no, do not do that", "and now", "but first", "before that", "can you", "could we",
    "did it work", "do it another way", "explain", "every one", "fine", "go on", "good", "how so",
    "hold on", "if so", "I think", "just do", "keep it", "let us", "maybe", "no", "not yet", "only",
    "ok then", "please", "perhaps", "quite so", "read it", "right", "so what", "stop", "skip that",
    "show me", "then", "try again", "use the other", "very well", "wait", "what for", "why",
    "exactly", "yes, but", "zero of these", "1 moment", "2 cups", "3 more",
)  # fmt: skip
"""Ordinary beginnings of messages, so that each letter comes first in one."""
