"""Words of a command line and the options between them; every example that is printed of them."""

import re
import shlex
from collections.abc import Iterator

import pytest

from model.base.errors import UsageError
from model.cli.command_lines.all import COMMAND_LINES, EXAMPLES
from model.cli.parser import read_command_line
from tests.program import ROOT


def examples() -> Iterator[str]:
    """The command lines of the help, which docs/cli.md and the manual page repeat."""
    manual = (ROOT / "docs" / "spinney.1").read_text().replace(r"\-", "-").replace(r"\(aq", "'")
    texts = [EXAMPLES, *(line.notes for line in COMMAND_LINES), manual]
    for text in [*texts, (ROOT / "docs" / "cli.md").read_text()]:
        for line in re.findall(r"^ +(?:.* \| )?(spinney [a-z].*)", text, re.MULTILINE):
            yield re.split(r"  +| [|<>&]", re.sub(r"\$\(.*\)", "X", line))[0]


@pytest.mark.parametrize("line", sorted({*examples()}))
def test_an_example_of_the_help_is_accepted(line: str) -> None:
    words = shlex.split(line)[1:]
    assert read_command_line(words).command == words[0]


def test_there_are_examples_to_check() -> None:
    assert len({*examples()}) > 80


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        ("send S --wait -", {"session": "S", "text": "-", "wait": True}),
        ("send --steer S --json 'Not that'", {"session": "S", "text": "Not that"}),
        ("send S --id U x", {"session": "S", "text": "x", "id": "U"}),
        ("send --wait -", {"session": "-", "text": None}),
        ("answer S --json yes --option 2", {"session": "S", "texts": ["yes"], "option": [2]}),
        ("answer S one --json two", {"texts": ["one", "two"]}),
        ("recover restore --json P", {"action": "restore", "point": "P", "paths": []}),
        ("recover files --json P a --name n b", {"point": "P", "paths": ["a", "b"], "name": "n"}),
        ("recover", {"action": "list", "point": None, "paths": []}),
        ("wait a --any b", {"sessions": ["a", "b"]}),
        ("call NAME a=1 --help b=2", {"name": "NAME", "arguments": ["a=1", "b=2"], "help": True}),
        ("why --json a.py:1", {"place": "a.py:1"}),
        ("open --demo here", {"path": "here", "demo": True}),
    ],
)
def test_words_are_taken_in_order_wherever_options_stand(
    line: str, taken: dict[str, object]
) -> None:
    assert vars(read_command_line(shlex.split(line))).items() >= taken.items()


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("send S -1", "-1"),
        ("send S '-1 is wrong' --wait", "-1 is wrong"),
        ("send S --wait '- a list'", "- a list"),
        ("send S '-h is the help'", "-h is the help"),
        ("send S '--wait until done'", "--wait until done"),
        ("send S --wait -- -x", "-x"),
        ("send --wait -- S --json", "--json"),
        ("send S -- --", "--"),
        ("new --attach a.png -- Text", "Text"),
    ],
)
def test_text_may_begin_with_a_dash(line: str, text: str) -> None:
    options = read_command_line(shlex.split(line))
    assert (options.prompt if options.command == "new" else options.text) == text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("send S x y", "Unexpected argument: y."),
        ("send S -- x -y", "Unexpected argument: -y."),
        (
            "send S -x",
            "Unknown option -x. Words that begin with - and are no options go behind --.",
        ),
        ("send S --stear x", "Unknown option --stear. Did you mean --steer?"),
        ("recover bring", "Argument action: invalid choice: 'bring' (choose from list, restore"),
        ("answer --json", "The following argument is required: SESSION."),
    ],
)
def test_what_a_command_does_not_expect_is_refused(line: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_command_line(shlex.split(line))
    assert refused.value.message.startswith(message)
    assert refused.value.usage.startswith(f"usage: spinney {line.split()[0]}")
    assert "SESSION" in refused.value.usage or "POINT" in refused.value.usage
