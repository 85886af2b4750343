"""The environment of every test, built from nothing: no test reads the settings of who runs it.

A person's git may sign commits, run hooks or have no name to commit with; a locale, a time zone or
an editor in the environment changes what programs print.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

_KEPT: Final = (
    # Where programs are, and how they reach a package index.
    *("PATH", "PYENV_", "PIP_", "SSL_CERT_", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_"),
    *("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
    # How Python and pytest run.
    *("TMPDIR", "CI", "COVERAGE_", "PYTEST_", "PYTHONPATH", "PYTHONHASHSEED", "DEBIAN_FRONTEND"),
    # Switches of the suite.
    *("JOURNEY_SOURCE", "SPINNEY_DELAYS", "SPINNEY_NEW_EXAMPLES", "SPINNEY_PICTURES"),
    *("SPINNEY_RECORD_", "SPINNEY_SNAPSHOTS", "SPINNEY_TESTS_"),
)
"""Variables that tests inherit: names, or prefixes of names that end with `_`."""


def use_own_environment(config: pytest.Config) -> None:
    """Replace this process's environment until pytest ends."""
    home = Path(tempfile.mkdtemp(prefix="spinney-tests-home-"))
    before = dict(os.environ)
    _replace_environment(build_environment(before, home))

    def restore() -> None:
        _replace_environment(before)
        shutil.rmtree(home, ignore_errors=True)

    config.add_cleanup(restore)


def build_environment(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return what tests inherit of `environ`, with all settings below `home`."""
    kept = {name: value for name, value in environ.items() if _is_kept(name)}
    return {
        **kept,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "xterm-256color",
        "SHELL": "/bin/sh",
        "CLAUDE_CONFIG_DIR": "/nonexistent",
        **create_home(home),
    }


def create_home(home: Path) -> dict[str, str]:
    """Write git's settings to `home`; return the variables by which only that home is read."""
    home.mkdir(exist_ok=True)
    (home / "gitconfig").write_text("[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n")
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{role}_NAME": "Ada" for role in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{role}_EMAIL": "ada@example.org" for role in ("AUTHOR", "COMMITTER")},
    }


def _is_kept(name: str) -> bool:
    return any(name.startswith(k) if k.endswith("_") else name == k for k in _KEPT)


def _replace_environment(environ: Mapping[str, str]) -> None:
    for name in set(os.environ) - set(environ):
        del os.environ[name]
    os.environ.update(environ)
