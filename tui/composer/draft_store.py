"""What people have written, kept on disk: drafts by session, sent messages by project.

In the folder of this machine, also for a terminal that is attached to a Spinney elsewhere. A draft
is a file of its own, so that terminals beside each other only meet where they write the same one.
"""

import hashlib
import json
import os
import re
import time
from contextlib import suppress
from functools import reduce
from pathlib import Path
from threading import Lock
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import PRIVATE_FILE, create_private_directory, write_atomically
from tui.composer.draft import Draft

DRAFTS: Final = 200
"""How many are kept, the newest ones."""
DRAFT_BYTES: Final = 8_000_000
DRAFTS_BYTES: Final = 64_000_000
DRAFT_AGE: Final = 90 * 86_400
"""Seconds until a draft that nobody came back to is dropped."""
SENT: Final = 500
"""Messages of a project that can be brought back."""
SENT_CHARACTERS: Final = 100_000
"""Longer messages are brought back until Spinney ends, and not kept on disk."""
SENT_BYTES: Final = 4_000_000


class Drafts:
    """Drafts and sent messages; without a folder they live as long as the program.

    Nothing here waits for the disk but `load` and `flush`, which are for other threads.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._drafts: dict[str, Draft] = {}
        self._on_the_way: dict[str, list[Draft]] = {}
        self._sent: dict[str, list[str]] = {}
        self._unwritten: set[str] = set()
        self._unwritten_sent: list[tuple[str, str]] = []
        self._writing = Lock()

    def of(self, key: str) -> Draft:
        """The draft for a session or a worktree."""
        return self._drafts.get(key, Draft())

    @property
    def has_news(self) -> bool:
        """Whether `flush` has something to write."""
        return bool(self._unwritten or self._unwritten_sent)

    def keep(self, key: str, draft: Draft) -> None:
        """Note what is being written; nothing ends the draft."""
        if draft != self.of(key):
            self._drafts[key] = draft
            self._unwritten.add(key)

    def hand_over(self, key: str, draft: Draft) -> None:
        """A message is on its way: until it is settled, a crash leaves it in the draft."""
        self._on_the_way.setdefault(key, []).append(draft)
        self._unwritten.add(key)

    def settle(self, key: str, draft: Draft) -> None:
        """A message was accepted, or given back."""
        if draft in self._on_the_way.get(key, ()):
            self._on_the_way[key].remove(draft)
            self._unwritten.add(key)

    def on_their_way(self, key: str) -> list[str]:
        """The messages that were handed over and are not settled."""
        return [draft.full() for draft in self._on_the_way.get(key, ())]

    def is_sending(self, key: str) -> bool:
        """Whether a message was handed over and is not settled."""
        return bool(self._on_the_way.get(key))

    def earlier(self, project_id: str) -> list[str]:
        """The messages sent in a project, oldest first; the list itself, which grows."""
        return self._sent.setdefault(project_id, [])

    def sent(self, project_id: str, text: str) -> None:
        """Note a message that was sent, unless it is the same as the one before."""
        earlier = self.earlier(project_id)
        if earlier[-1:] != [text]:
            earlier.append(text)
            del earlier[:-SENT]
            if len(text) <= SENT_CHARACTERS:
                self._unwritten_sent.append((project_id, text))

    # Slow work ----------------------------------------------------------------------------------

    def load(self) -> None:
        """Read what was kept; what cannot be read is left out, and what is too old removed."""
        if self._folder is None:
            return
        self._load_drafts(self._folder / "drafts")
        for path, _ in _files(self._folder / "sent"):
            with suppress(OSError, ValueError, TypeError, KeyError):
                self._load_sent(path)

    def flush(self) -> None:
        """Write what is not written yet. Raises `SpinneyError` where the disk refuses."""
        with self._writing:
            keys, self._unwritten = self._unwritten, set()
            sent, self._unwritten_sent = self._unwritten_sent, []
            if self._folder is None:
                return
            try:
                for key in keys:
                    self._write_draft(self._folder / "drafts", key)
                for project_id, text in sent:
                    self._append_sent(self._folder / "sent", project_id, text)
            except OSError as error:
                raise SpinneyError(
                    f"What you write is not kept for the next start: {error.strerror or error}. "
                    f"Look at {self._folder}.",
                    "internal_error",
                ) from error

    def _load_drafts(self, folder: Path) -> None:
        left = DRAFTS_BYTES
        for number, (path, facts) in enumerate(_files(folder)):
            left -= facts.st_size
            is_wanted = number < DRAFTS and left >= 0 and facts.st_mtime > time.time() - DRAFT_AGE
            with suppress(OSError, ValueError, TypeError, KeyError):
                if not is_wanted:
                    path.unlink()
                    continue
                kept = json.loads(path.read_bytes())
                draft = Draft(kept["text"], dict(kept["pastes"]), dict(kept["images"]))
                self._drafts.setdefault(kept["key"], draft)

    def _load_sent(self, path: Path) -> None:
        lines = path.read_bytes().splitlines(keepends=True)
        kept = [json.loads(line) for line in lines[-SENT:] if line.endswith(b"\n")]
        project_id = kept[-1]["project"]
        self.earlier(project_id)[:0] = [entry["text"] for entry in kept]
        if len(lines) > 2 * SENT or path.stat().st_size > SENT_BYTES:
            while len(lines) > SENT or sum(map(len, lines)) > SENT_BYTES // 2:
                del lines[: max(1, len(lines) // 10)]
            write_atomically(path, b"".join(lines))

    def _write_draft(self, folder: Path, key: str) -> None:
        path = folder / f"{_file_name(key)}.json"
        draft = reduce(Draft.before, [*self._on_the_way.get(key, ()), self.of(key)])
        if not draft:
            path.unlink(missing_ok=True)
            return
        kept = {"key": key, "text": draft.text, "pastes": draft.pastes, "images": draft.images}
        data = json.dumps(kept).encode()
        if len(data) <= DRAFT_BYTES:
            _make(folder)
            write_atomically(path, data)

    def _append_sent(self, folder: Path, project_id: str, text: str) -> None:
        _make(folder)
        path = folder / f"{_file_name(project_id)}.jsonl"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(path, flags, PRIVATE_FILE)
        with os.fdopen(descriptor, "ab") as file:
            file.write(json.dumps({"project": project_id, "text": text}).encode() + b"\n")


def _make(folder: Path) -> None:
    create_private_directory(folder.parent)
    create_private_directory(folder)


def _files(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """The files of a folder, the newest first; none where there is no folder."""
    found = []
    with suppress(OSError):
        for path in folder.iterdir():
            if path.suffix in (".json", ".jsonl"):
                with suppress(OSError):  # another terminal has sent it meanwhile
                    found.append((path, path.stat()))
    return sorted(found, key=lambda file: file[1].st_mtime, reverse=True)


def _file_name(key: str) -> str:
    """Ids are file names; what another machine calls an id may not be one."""
    return key if re.fullmatch(r"[\w-]{1,100}", key) else hashlib.sha256(key.encode()).hexdigest()
