"""A repository made for one test, driven by git itself."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE


@dataclass(frozen=True)
class Repository:
    """Its root, and the few things that tests do in it."""

    root: Path

    def git(self, *args: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *args], cwd=cwd or self.root, capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, name: str, text: str, cwd: Path | None = None) -> Path:
        path = (cwd or self.root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def commit(self, name: str, text: str, cwd: Path | None = None) -> str:
        self.write(name, text, cwd)
        self.git("add", "--all", cwd=cwd)
        self.git("commit", "-m", f"Change {name}", cwd=cwd)
        return self.git("rev-parse", "HEAD", cwd=cwd)
