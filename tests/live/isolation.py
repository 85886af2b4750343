"""Isolation of real agent programs: finds them, and builds environments in which they have no
account and connect only to this machine. For fixtures, recordings and served programs.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest

from tests.live import responses_stub
from tests.program import ROOT

TOOLS: Final = ROOT / ".tools" / "node_modules" / ".bin"
"""The folder in which `.ci/run` installs them."""

_INSTALLED_BY: Final = {
    "claude": "Claude Code (npm install -g @anthropic-ai/claude-code)",
    "codex": "Codex (npm install -g @openai/codex)",
    "opencode": "OpenCode (npm install -g opencode-ai@1)",
}
_CHANGED_BY: Final = {
    "claude": ("ANTHROPIC", "CLAUDE", "AWS_", "GOOGLE_"),
    "codex": ("OPENAI", "CODEX"),
    "opencode": (
        *("OPENCODE", "ANTHROPIC", "OPENAI", "AWS_", "GOOGLE_"),
        *("XDG_", "SPINNEY_"),
    ),
}
"""Prefixes of the environment variables that change what a program does."""

_PLUGINS: Final = "@opencode-ai/plugin"


@contextmanager
def make_place() -> Iterator[Path]:
    """A folder that Codex does not treat as temporary: its sandbox allows writes in those."""
    with TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as place:
        yield Path(place)


def find_program(name: str, path: str) -> Path:
    """The program on this PATH; skips the test if it is missing."""
    program = shutil.which(name, path=path)
    if program is None:
        pytest.skip(f"needs {_INSTALLED_BY[name]}")
    return Path(program)


def append_tools(path: str) -> str:
    """The PATH with the programs installed for the tests appended."""
    return f"{path}{os.pathsep}{TOOLS}"


def put_on_path(name: str, patch: pytest.MonkeyPatch) -> Path:
    """Put the program on PATH and remove the variables that would change what it does.

    Returns its path. Skips the test if it is missing.
    """
    path = append_tools(os.environ.get("PATH", os.defpath))
    program = find_program(name, path)
    for variable in list(os.environ):
        if variable.startswith(_CHANGED_BY[name]):
            patch.delenv(variable)
    patch.setenv("PATH", path)
    return program


def isolate_claude(home: Path, base_url: str) -> dict[str, str]:
    """Environment with which `claude` uses only `home` and the provider at `base_url`."""
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


def isolate_codex(home: Path, base_url: str) -> dict[str, str]:
    """Environment with which `codex` uses only `home` and the provider at `base_url`."""
    own = home / ".codex"
    own.mkdir(parents=True)
    (own / "config.toml").write_text(responses_stub.configuration(base_url))
    return {
        "HOME": str(home),
        "CODEX_HOME": str(own),
        "OPENAI_API_KEY": "dummy",
        "NO_PROXY": "127.0.0.1",
    }


def isolate_opencode(home: Path, settings: Mapping[str, Any]) -> dict[str, str]:
    """Environment with which `opencode` uses only `home` and these settings."""
    file = home / "opencode.json"
    file.write_text(json.dumps(settings))
    # The program installs the dependencies of plugins from its registry, and the first session
    # waits for that (1.18.33); here they are already installed.
    folder = home / "CONFIG" / "opencode"
    (folder / "node_modules").mkdir(parents=True, exist_ok=True)
    needed = {"dependencies": {_PLUGINS: "*"}}
    (folder / "package.json").write_text(json.dumps(needed))
    locked = {"lockfileVersion": 3, "packages": {"": needed}}
    (folder / "package-lock.json").write_text(json.dumps(locked))
    # Its list of some thousand models costs a third of each start. The provider lists its own.
    models = home / "models.json"
    models.write_text("{}")
    return {
        "HOME": str(home),
        **{f"XDG_{kind}_HOME": str(home / kind) for kind in ("CONFIG", "DATA", "CACHE", "STATE")},
        "OPENCODE_CONFIG": str(file),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_MODELS_PATH": str(models),
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "npm_config_registry": "http://127.0.0.1:9",
        "npm_config_fetch_retries": "0",
        # Sessions share a server only if their environments are equal, and pytest sets this
        # variable to the name of each test.
        "PYTEST_CURRENT_TEST": "",
    }
