"""Every kind of agent as a served Spinney meets it: the real program, cut off from the world, and
its provider, a stand-in on loopback that follows the words of `scripted`.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.contract.conftest import program_in
from tests.live import completions_stub
from tests.live.cut_off import claude_in, codex_in, found, opencode_in, with_tools
from tests.patience import PATIENCE
from tests.program import ROOT, Program, next_line


@dataclass(frozen=True)
class Kind:
    """One kind of agent."""

    backend: str
    needs: str = ""
    """Its program; empty for one that comes with Spinney."""
    provider: str = ""
    """The module that stands in for its provider."""
    prepared: Callable[[Program, str], None] = lambda program, base_url: None
    """Gives Spinney's environment and home what the program needs to find the provider there."""
    model: str | None = None
    """One that the provider's stand-in has, where it does not take any."""
    words: Callable[[str], str] = str
    """A message of the tests in words that this agent follows."""
    tells_output: bool = True
    """Whether it tells what a command prints before that is done."""
    asks: bool = True
    """Whether the agent can ask questions; not every protocol has them."""

    @contextmanager
    def program(self, place: Path) -> Iterator[Program]:
        """A Spinney with this agent, not started; the provider answers until the end."""
        made = program_in(place)
        made.environ["PATH"] = with_tools(made.environ["PATH"])
        if self.needs:
            found(self.needs, made.environ["PATH"])
        if not self.provider:
            self.prepared(made, "")
            yield made
            return
        with answering(self.provider) as base_url:
            self.prepared(made, base_url)
            yield made


@contextmanager
def answering(provider: str) -> Iterator[str]:
    """A provider's stand-in in a process of its own; where it answers."""
    command = [sys.executable, "-m", provider, "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            base_url = next_line(process, PATIENCE).strip()
            assert base_url, f"{provider} did not start"
            yield base_url
        finally:
            process.terminate()


def _claude(program: Program, base_url: str) -> None:
    program.environ |= claude_in(program.home, base_url)


def _codex(program: Program, base_url: str) -> None:
    program.environ |= codex_in(program.home, base_url)


def _opencode(program: Program, base_url: str) -> None:
    program.environ |= opencode_in(program.home, completions_stub.configuration(base_url))


def _acp(program: Program, _base_url: str) -> None:
    command = {
        "command": sys.executable,
        "args": ["-m", "tests.live.acp_scripted"],
        "env": {"PYTHONPATH": str(ROOT), "HOME": str(program.home)},
    }
    lines = [f"{key} = {_toml(value)}" for key, value in command.items()]
    program.config.mkdir(exist_ok=True)
    (program.config / "agents.toml").write_text("\n".join(["[scripted]", *lines]))


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def _demo_words(text: str) -> str:
    word, _, rest = text.partition(" ")
    match word.rstrip(":"):
        case "say":
            lines = [f"say {rest}"]
        case "think":
            lines = [f"think {rest}", "say I thought about it."]
        case "write":
            lines = ["say I write.", f"write {rest}", "say done"]
        case "bash":
            lines = [f"permission {rest}", "say done"]
        case "plan":
            lines = ["say Here is a plan.", f"plan write planned.txt: {rest}; say done"]
        case "ask":
            lines = [f"ask {rest}"]
        case "remember?":
            lines = ["recall"]
        case "slow":
            lines = ["stream 600 10"]
        case "error":
            lines = ["fail auth"]
        case _:
            raise ValueError(f"the demo agent has no words for: {text}")
    return "\n".join(f"/demo {line}" for line in lines)


KINDS = {
    "demo": Kind("demo", words=_demo_words),
    "claude": Kind("backend_a", "claude", "tests.live.provider_stub", _claude, tells_output=False),
    "codex": Kind("backend_b", "codex", "tests.live.responses_stub", _codex),
    "opencode": Kind(
        "backend_c",
        "opencode",
        "tests.live.completions_stub",
        _opencode,
        f"{completions_stub.PROVIDER}/{completions_stub.MODEL}",
    ),
    "acp": Kind("acp:scripted", prepared=_acp, asks=False),
}
"""All of them by what people call them."""
