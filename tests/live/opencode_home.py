"""A home in which the real OpenCode knows nobody's account and asks no machine but this one."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_PLUGINS: Final = "@opencode-ai/plugin"


def environment_in(home: Path, settings: Mapping[str, Any]) -> dict[str, str]:
    """Variables with which it lives in `home`, configured by `settings`."""
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
