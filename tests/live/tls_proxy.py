"""A proxy that connects every host name to a port on loopback, and a certificate for them."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path


def make_certificate(hosts: Sequence[str], certificate: Path, key: Path) -> None:
    """Create a self-signed certificate for these hosts."""
    names = ",".join(f"DNS:{host}" for host in hosts)
    subprocess.run(
        [
            "openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=stub",
            "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-addext", f"subjectAltName={names}", "-keyout", str(key), "-out", str(certificate),
        ],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip


@asynccontextmanager
async def proxy_to(port: int) -> AsyncIterator[str]:
    """Run a proxy that connects all `CONNECT` requests to a port on loopback; yields its URL."""
    open_ends: set[asyncio.StreamWriter] = set()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        to_stub, from_stub = await asyncio.open_connection("127.0.0.1", port)
        open_ends.update((writer, from_stub))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_carry(reader, from_stub), _carry(to_stub, writer))

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for end in open_ends:
            end.close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
    writer.close()
