"""Every kind of agent for a served Spinney: the real program, isolated, with a provider stub on
loopback that runs the commands of `scripted`.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.contract.conftest import make_program
from tests.live import completions_stub
from tests.live.isolation import (
    append_tools,
    find_program,
    isolate_claude,
    isolate_codex,
    isolate_opencode,
)
from tests.patience import PATIENCE
from tests.program import ROOT, Program, next_line


@dataclass(frozen=True)
class Kind:
    """One kind of agent."""

    backend: str
    needs: str = ""
    """The name of its program; empty for one that comes with Spinney."""
    provider: str = ""
    """The module of the stub of its provider."""
    prepare: Callable[[Program, str], None] = lambda program, base_url: None
    """Sets up Spinney's environment and home so that the program uses the provider at a URL."""
    model: str | None = None
    """A model of the provider stub, if the agent does not accept every name."""
    words: Callable[[str], str] = str
    """Translates a command of `scripted` to a message for this agent."""
    streams_output: bool = True
    """Whether it reports the output of a command while that runs."""
    steers: bool = True
    """Whether it reads messages during a turn; not every protocol supports that."""
    asks: bool = True
    """Whether the agent can ask questions; not every protocol supports them."""

    @contextmanager
    def program(self, place: Path) -> Iterator[Program]:
        """A Spinney with this agent, not started, and its running provider stub."""
        program = make_program(place)
        program.environ["PATH"] = append_tools(program.environ["PATH"])
        if self.needs:
            find_program(self.needs, program.environ["PATH"])
        if not self.provider:
            self.prepare(program, "")
            yield program
            return
        with run_stub(self.provider) as base_url:
            self.prepare(program, base_url)
            yield program


@contextmanager
def run_stub(provider: str) -> Iterator[str]:
    """Run a provider stub in a separate process; yields its URL."""
    command = [sys.executable, "-m", provider, "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            base_url = next_line(process, PATIENCE).strip()
            assert base_url, f"{provider} did not start"
            yield base_url
        finally:
            process.terminate()


def _claude(program: Program, base_url: str) -> None:
    program.environ |= isolate_claude(program.home, base_url)


def _codex(program: Program, base_url: str) -> None:
    program.environ |= isolate_codex(program.home, base_url)


def _opencode(program: Program, base_url: str) -> None:
    program.environ |= isolate_opencode(program.home, completions_stub.configuration(base_url))


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
        case "say" | "slowly":
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
        case "error" if rest == "429":
            lines = ["fail rate_limit 600"]
        case "error":
            lines = ["fail auth"]
        case _:
            raise ValueError(f"the demo agent has no words for: {text}")
    return "\n".join(f"/demo {line}" for line in lines)


KINDS = {
    "demo": Kind("demo", words=_demo_words),
    "claude": Kind(
        "backend_a", "claude", "tests.live.provider_stub", _claude, streams_output=False
    ),
    "codex": Kind("backend_b", "codex", "tests.live.responses_stub", _codex),
    "opencode": Kind(
        "backend_c",
        "opencode",
        "tests.live.completions_stub",
        _opencode,
        f"{completions_stub.PROVIDER}/{completions_stub.MODEL}",
    ),
    "acp": Kind("acp:scripted", prepare=_acp, steers=False, asks=False),
}
"""All kinds by name."""

PROGRAMS = {name: kind for name, kind in KINDS.items() if kind.needs}
"""Those with a program of a vendor."""
