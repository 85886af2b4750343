"""Persistent drafts by session, and sent messages by project.

They are stored on this machine, also for a terminal attached to a remote Spinney. Each draft is a
separate file, so several terminals conflict only if they edit the same draft.
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

MAX_DRAFTS: Final = 200
"""Drafts that are kept, newest first."""
MAX_DRAFT_BYTES: Final = 8_000_000
MAX_DRAFTS_BYTES: Final = 64_000_000
MAX_DRAFT_AGE: Final = 90 * 86_400
"""Seconds until an unused draft is deleted."""
MAX_SENT: Final = 500
"""Sent messages of a project that can be recalled."""
MAX_SENT_CHARACTERS: Final = 100_000
"""Longer messages can be recalled until Spinney exits, but are not saved to disk."""
MAX_SENT_BYTES: Final = 4_000_000


class DraftStore:
    """Drafts and sent messages; without a folder they are kept in memory only.

    Only `load` and `flush` access the disk; call them on other threads.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._drafts: dict[str, Draft] = {}
        self._sending: dict[str, list[Draft]] = {}
        self._sent: dict[str, list[str]] = {}
        self._unsaved_drafts: set[str] = set()
        self._unsaved_messages: list[tuple[str, str]] = []
        self._writing = Lock()

    def get(self, key: str) -> Draft:
        """The draft for a session or a worktree."""
        return self._drafts.get(key, Draft())

    @property
    def has_unsaved(self) -> bool:
        """Whether `flush` has something to write."""
        return bool(self._unsaved_drafts or self._unsaved_messages)

    def set(self, key: str, draft: Draft) -> None:
        """Replace a draft; an empty one deletes it."""
        if draft != self.get(key):
            self._drafts[key] = draft
            self._unsaved_drafts.add(key)

    def start_sending(self, key: str, draft: Draft) -> None:
        """Mark a message as being sent: until it is settled, a crash keeps it in the draft."""
        self._sending.setdefault(key, []).append(draft)
        self._unsaved_drafts.add(key)

    def finish_sending(self, key: str, draft: Draft) -> None:
        """End the sending of a message that was accepted or returned."""
        if draft in self._sending.get(key, ()):
            self._sending[key].remove(draft)
            self._unsaved_drafts.add(key)

    def sending_texts(self, key: str) -> list[str]:
        """The messages that are being sent."""
        return [draft.text_to_send() for draft in self._sending.get(key, ())]

    def is_sending(self, key: str) -> bool:
        """Whether a message is being sent."""
        return bool(self._sending.get(key))

    def sent_messages(self, project_id: str) -> list[str]:
        """The messages sent in a project, oldest first; the live list, which grows."""
        return self._sent.setdefault(project_id, [])

    def add_sent(self, project_id: str, text: str) -> None:
        """Add a sent message, unless it equals the previous one."""
        earlier = self.sent_messages(project_id)
        if earlier[-1:] != [text]:
            earlier.append(text)
            del earlier[:-MAX_SENT]
            if len(text) <= MAX_SENT_CHARACTERS:
                self._unsaved_messages.append((project_id, text))

    # Disk access --------------------------------------------------------------------------------

    def load(self) -> None:
        """Load everything; unreadable files are skipped, and expired ones deleted."""
        if self._folder is None:
            return
        self._load_drafts(self._folder / "drafts")
        for path, _ in _files(self._folder / "sent"):
            with suppress(OSError, ValueError, TypeError, KeyError):
                self._load_sent(path)

    def flush(self) -> None:
        """Write unsaved changes. Raises `SpinneyError` if the disk refuses."""
        with self._writing:
            keys, self._unsaved_drafts = self._unsaved_drafts, set()
            sent, self._unsaved_messages = self._unsaved_messages, []
            if self._folder is None:
                return
            try:
                for key in keys:
                    self._write_draft(self._folder / "drafts", key)
                for project_id, text in sent:
                    self._append_sent(self._folder / "sent", project_id, text)
            except OSError as error:
                raise SpinneyError(
                    f"Drafts could not be saved: {error.strerror or error}. "
                    f"Check '{self._folder}'.",
                    "internal_error",
                ) from error

    def _load_drafts(self, folder: Path) -> None:
        remaining = MAX_DRAFTS_BYTES
        for number, (path, stat) in enumerate(_files(folder)):
            remaining -= stat.st_size
            should_keep = (
                number < MAX_DRAFTS
                and remaining >= 0
                and stat.st_mtime > time.time() - MAX_DRAFT_AGE
            )
            with suppress(OSError, ValueError, TypeError, KeyError):
                if not should_keep:
                    path.unlink()
                    continue
                data = json.loads(path.read_bytes())
                draft = Draft(data["text"], dict(data["pastes"]), dict(data["images"]))
                self._drafts.setdefault(data["key"], draft)

    def _load_sent(self, path: Path) -> None:
        lines = path.read_bytes().splitlines(keepends=True)
        entries = [json.loads(line) for line in lines[-MAX_SENT:] if line.endswith(b"\n")]
        project_id = entries[-1]["project"]
        self.sent_messages(project_id)[:0] = [entry["text"] for entry in entries]
        if len(lines) > 2 * MAX_SENT or path.stat().st_size > MAX_SENT_BYTES:
            while len(lines) > MAX_SENT or sum(map(len, lines)) > MAX_SENT_BYTES // 2:
                del lines[: max(1, len(lines) // 10)]
            write_atomically(path, b"".join(lines))

    def _write_draft(self, folder: Path, key: str) -> None:
        path = folder / f"{_file_name(key)}.json"
        draft = reduce(Draft.join, [*self._sending.get(key, ()), self.get(key)])
        if not draft:
            path.unlink(missing_ok=True)
            return
        entry = {"key": key, "text": draft.text, "pastes": draft.pastes, "images": draft.images}
        data = json.dumps(entry).encode()
        if len(data) <= MAX_DRAFT_BYTES:
            _create_folder(folder)
            write_atomically(path, data)

    def _append_sent(self, folder: Path, project_id: str, text: str) -> None:
        _create_folder(folder)
        path = folder / f"{_file_name(project_id)}.jsonl"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(path, flags, PRIVATE_FILE)
        with os.fdopen(descriptor, "ab") as file:
            file.write(json.dumps({"project": project_id, "text": text}).encode() + b"\n")


def _create_folder(folder: Path) -> None:
    create_private_directory(folder.parent)
    create_private_directory(folder)


def _files(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """The files of a folder, newest first; empty if there is no folder."""
    files = []
    with suppress(OSError):
        for path in folder.iterdir():
            if path.suffix in (".json", ".jsonl"):
                with suppress(OSError):  # another terminal has sent it in the meantime
                    files.append((path, path.stat()))
    return sorted(files, key=lambda file: file[1].st_mtime, reverse=True)


def _file_name(key: str) -> str:
    """The id as a file name; ids of another machine that are not valid names are hashed."""
    return key if re.fullmatch(r"[\w-]{1,100}", key) else hashlib.sha256(key.encode()).hexdigest()
