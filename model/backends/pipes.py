"""Our ends of the pipes to a program; they can be closed while other processes hold theirs."""

import asyncio
import os
from typing import IO, Final

_CHUNK: Final = 256 * 1024


class PipeReader:
    """The reading end of a pipe."""

    def __init__(self, reader: asyncio.StreamReader, transport: asyncio.ReadTransport) -> None:
        self._reader = reader
        self._transport = transport
        self._chunks = 0
        self._is_reading = False

    @classmethod
    async def open(cls, descriptor: int) -> "PipeReader":
        """Wrap the reading end of a pipe and take ownership of its descriptor."""
        reader = asyncio.StreamReader(limit=_CHUNK)
        pipe: IO[bytes] = os.fdopen(descriptor, "rb", 0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        return cls(reader, transport)

    async def read(self) -> bytes:
        """Read the next chunk; empty at the end."""
        self._is_reading = True
        try:
            return await self._reader.read(_CHUNK)
        finally:
            self._is_reading = False
            self._chunks += 1

    @property
    def at_eof(self) -> bool:
        """Whether everything was read and the pipe has ended."""
        return self._reader.at_eof()

    async def is_silent_for(self, seconds: float) -> bool:
        """Whether a read was pending all that time and no data arrived, or the pipe has ended."""
        chunks = self._chunks
        await asyncio.sleep(seconds)
        return self.at_eof or (self._is_reading and self._chunks == chunks)

    def close(self) -> None:
        """Close our end, even if other processes still hold theirs."""
        self._transport.close()


async def open_pipe_writer(descriptor: int) -> asyncio.StreamWriter:
    """Wrap the writing end of a pipe and take ownership of its descriptor."""
    loop = asyncio.get_running_loop()
    pipe: IO[bytes] = os.fdopen(descriptor, "wb", 0)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), pipe
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)
