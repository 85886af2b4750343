"""Real agent programs cut off from the world: where they are, and environments in which they know
nobody's account and ask no machine but this one. For fixtures, recordings and served programs.
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.live import responses_stub
from tests.program import ROOT

TOOLS: Final = ROOT / ".tools" / "node_modules" / ".bin"
"""Where `.ci/run` installs them."""

_INSTALLED_BY: Final = {
    "claude": "Claude Code (npm install -g @anthropic-ai/claude-code)",
    "codex": "Codex (npm install -g @openai/codex)",
    "opencode": "OpenCode (npm install -g opencode-ai)",
}
_CHANGED_BY: Final = {
    "claude": ("ANTHROPIC", "CLAUDE", "AWS_", "GOOGLE_"),
    "codex": ("OPENAI", "CODEX"),
    "opencode": (
        *("OPENCODE", "ANTHROPIC", "OPENAI", "AWS_", "GOOGLE_"),
        *("XDG_", "SPINNEY_"),
    ),
}
"""Beginnings of the names of variables that would change what a program does."""

_PLUGINS: Final = "@opencode-ai/plugin"


def found(name: str, path: str) -> Path:
    """The program on this PATH. Skips the test that needs it where it is not."""
    program = shutil.which(name, path=path)
    if program is None:
        pytest.skip(f"needs {_INSTALLED_BY[name]}")
    return Path(program)


def with_tools(path: str) -> str:
    """A PATH with what was installed for the tests behind all else."""
    return f"{path}{os.pathsep}{TOOLS}"


def made_known(name: str, patch: pytest.MonkeyPatch) -> Path:
    """The program, found by Spinney from now on, and told nothing by this process's environment.

    Skips the test that needs it where it is not.
    """
    path = with_tools(os.environ.get("PATH", os.defpath))
    program = found(name, path)
    for variable in list(os.environ):
        if variable.startswith(_CHANGED_BY[name]):
            patch.delenv(variable)
    patch.setenv("PATH", path)
    return program


def claude_in(home: Path, base_url: str) -> dict[str, str]:
    """Variables with which `claude` lives in `home` and talks to the provider there alone."""
    return {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_TMPDIR": str(home),
        "ANTHROPIC_API_KEY": "dummy",
        "ANTHROPIC_BASE_URL": base_url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }


def codex_in(home: Path, base_url: str) -> dict[str, str]:
    """Variables with which `codex` lives in `home` and talks to the provider there alone."""
    own = home / ".codex"
    own.mkdir(parents=True)
    (own / "config.toml").write_text(responses_stub.configuration(base_url))
    return {
        "HOME": str(home),
        "CODEX_HOME": str(own),
        "OPENAI_API_KEY": "dummy",
        "NO_PROXY": "127.0.0.1",
    }


def opencode_in(home: Path, settings: Mapping[str, Any]) -> dict[str, str]:
    """Variables with which `opencode` lives in `home`, configured by `settings`."""
    file = home / "opencode.json"
    file.write_text(json.dumps(settings))
    # The program would install what plugins need from its registry, and every first session would
    # wait for that (1.18.33); here it finds it done.
    folder = home / "CONFIG" / "opencode"
    (folder / "node_modules").mkdir(parents=True, exist_ok=True)
    needed = {"dependencies": {_PLUGINS: "*"}}
    (folder / "package.json").write_text(json.dumps(needed))
    locked = {"lockfileVersion": 3, "packages": {"": needed}}
    (folder / "package-lock.json").write_text(json.dumps(locked))
    return {
        "HOME": str(home),
        **{f"XDG_{kind}_HOME": str(home / kind) for kind in ("CONFIG", "DATA", "CACHE", "STATE")},
        "OPENCODE_CONFIG": str(file),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "npm_config_registry": "http://127.0.0.1:9",
        "npm_config_fetch_retries": "0",
        # Sessions share a server where their environments are equal, and pytest writes the name of
        # each test into it.
        "PYTEST_CURRENT_TEST": "",
    }
