"""Make git objects in memory, and store all of them with one process of git."""

import asyncio
import hashlib
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from model.git.safe_config import list_settings
from model.git.snapshots import plumbing

Kind = Literal["commit", "tree", "blob"]
_NUMBERS: Final[Mapping[Kind, int]] = {"commit": 1, "tree": 2, "blob": 3}
"""As a pack has them."""


class NewObjects:
    """Objects that the repository may lack, until `store` writes them.

    Args:
        root: A worktree of the repository.
        environment: Variables for git, such as those of `ScratchObjects`.
        options: Options for git, placed before the subcommand.
    """

    def __init__(
        self, root: Path, environment: Mapping[str, str] | None, options: tuple[str, ...]
    ) -> None:
        self._root = root
        self.environment = environment
        self._options = options
        self._algorithm = "sha1"
        self._objects: dict[str, tuple[Kind, bytes]] = {}

    @classmethod
    async def create(
        cls, root: Path, environment: Mapping[str, str] | None = None, options: tuple[str, ...] = ()
    ) -> "NewObjects":
        """Return an empty set of objects, named as the repository names its own."""
        created = cls(root, environment, options)
        created._algorithm = await asyncio.to_thread(_read_algorithm, root)
        return created

    def add(self, kind: Kind, content: bytes) -> str:
        """Add an object, and return its id."""
        named = self._hash(f"{kind} {len(content)}\0".encode() + content).hexdigest()
        self._objects.setdefault(named, (kind, content))
        return named

    def add_commit(self, tree: str, parents: list[str], message: str, seconds: int) -> str:
        """Add a commit of Spinney's, made at a time in seconds since 1970; return its id."""
        who = f"{plumbing.NAME} <{plumbing.EMAIL}> {seconds} +0000"
        lines = [
            f"tree {tree}",
            *(f"parent {parent}" for parent in dict.fromkeys(parents)),
            f"author {who}",
            f"committer {who}",
            "",
            message,
        ]
        return self.add("commit", "\n".join(lines).encode())

    def list_trees(self) -> dict[str, bytes]:
        """Return the trees that are not stored yet."""
        return {name: content for name, (kind, content) in self._objects.items() if kind == "tree"}

    async def store(self) -> None:
        """Write the objects that the repository lacks, as loose objects. Raises as `plumbing.run`.

        Objects may be added and stored again.
        """
        if self._objects:
            objects, self._objects = self._objects, {}
            pack = await asyncio.to_thread(self._make_pack, objects)
            await plumbing.run(
                self._root, *self._options, "unpack-objects", "-q",
                stdin=pack, environment=self.environment,
            )  # fmt: skip

    def _hash(self, content: bytes) -> "hashlib._Hash":
        return hashlib.new(self._algorithm, content, usedforsecurity=False)

    def _make_pack(self, objects: Mapping[str, tuple[Kind, bytes]]) -> bytes:
        """Return a pack as gitformat-pack(5) describes it, without compression or deltas."""
        parts = [b"PACK", (2).to_bytes(4, "big"), len(objects).to_bytes(4, "big")]
        for kind, content in objects.values():
            parts += [_make_header(kind, len(content)), zlib.compress(content, 0)]
        pack = b"".join(parts)
        return pack + self._hash(pack).digest()


def _make_header(kind: Kind, size: int) -> bytes:
    """Return the type and the size: 4 bits of the size in the first byte, then 7 in each."""
    byte, rest = _NUMBERS[kind] << 4 | size & 0x0F, size >> 4
    header = bytearray()
    while rest:
        header.append(byte | 0x80)
        byte, rest = rest & 0x7F, rest >> 7
    header.append(byte)
    return bytes(header)


def _read_algorithm(root: Path) -> str:
    formats = [v for name, v in list_settings(root) if name == "extensions.objectformat"]
    return "sha256" if formats[-1:] == ["sha256"] else "sha1"
