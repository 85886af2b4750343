"""Our ends of the pipes to a program, which we can let go of while others hold theirs."""

import asyncio
import os
from typing import IO, Final

_CHUNK: Final = 256 * 1024


class Output:
    """The reading end of a pipe that we can let go of."""

    def __init__(self, reader: asyncio.StreamReader, transport: asyncio.ReadTransport) -> None:
        self._reader = reader
        self._transport = transport
        self._chunks = 0
        self._waits = False

    @classmethod
    async def open(cls, descriptor: int) -> "Output":
        """The end of a pipe with this descriptor, which is ours from now on."""
        reader = asyncio.StreamReader(limit=_CHUNK)
        pipe: IO[bytes] = os.fdopen(descriptor, "rb", 0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        return cls(reader, transport)

    async def read(self) -> bytes:
        """The next piece; empty at the end."""
        self._waits = True
        try:
            return await self._reader.read(_CHUNK)
        finally:
            self._waits = False
            self._chunks += 1

    @property
    def ended(self) -> bool:
        """Whether all was read, and nothing more can come."""
        return self._reader.at_eof()

    async def silent_for(self, seconds: float) -> bool:
        """Whether somebody read all that time, and nothing came."""
        before = self._chunks
        await asyncio.sleep(seconds)
        return self.ended or (self._waits and self._chunks == before)

    def let_go(self) -> None:
        """Close it, whoever still holds the other end."""
        self._transport.close()


async def opened_input(descriptor: int) -> asyncio.StreamWriter:
    """The writing end of a pipe with this descriptor, which is ours from now on."""
    loop = asyncio.get_running_loop()
    pipe: IO[bytes] = os.fdopen(descriptor, "wb", 0)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), pipe
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)
