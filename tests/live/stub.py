"""Base class of the provider stubs: a server on loopback that records its requests."""

import argparse
import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Json = dict[str, Any]


@dataclass
class Stub:
    """A provider; subclasses define its routes."""

    requests: list[Json] = field(default_factory=list)
    base_url: str = ""
    """Its URL while it runs."""
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    root = ""
    """The path of `base_url`."""

    def routes(self) -> list[web.RouteDef]:
        """The routes of the server."""
        raise NotImplementedError

    @asynccontextmanager
    async def running(self, port: int = 0) -> AsyncIterator[str]:
        """Serve on loopback; yields the base URL."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.add_routes(self.routes())
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", port)
            await site.start()
            host, bound = runner.addresses[0][:2]
            self.base_url = f"http://{host}:{bound}{self.root}"
            yield self.base_url
        finally:
            await runner.cleanup()


def run_alone(stub: Stub, description: str | None) -> None:
    """Print the base URL and serve until killed."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--port", type=int, default=0)

    async def serve(port: int) -> None:
        async with stub.running(port) as base_url:
            print(base_url, flush=True)
            await asyncio.Event().wait()

    asyncio.run(serve(arguments.parse_args().port))
