"""The server's certificate while it listens: renewed files are used without a restart."""

import asyncio
import logging
import os
import ssl
from collections.abc import Callable

from model.base.errors import SpinneyError
from model.service.certificates import (
    Certificate,
    CertificateFiles,
    load_certificate,
    reload_certificate,
)

_log = logging.getLogger(__name__)

_Stamp = tuple[tuple[int, int], ...]


class ServerCertificate:
    """A loaded certificate and the context that uses it."""

    def __init__(
        self, files: CertificateFiles, context: ssl.SSLContext, certificate: Certificate
    ) -> None:
        self.files = files
        self.context = context
        self.certificate = certificate
        self._stamp = _read_stamp(files)
        self._problem = ""

    @classmethod
    async def load(cls, files: CertificateFiles) -> "ServerCertificate":
        """Load it. Raises `SpinneyError`."""
        return cls(files, *await asyncio.to_thread(load_certificate, files))

    @property
    def host_names(self) -> frozenset[str]:
        """The names, without addresses and wildcards, under which a browser accepts it."""
        names = (name.lower() for name in self.certificate.names)
        return frozenset(name for name in names if name[-1:].isalpha() and "*" not in name)

    async def watch(self, interval: float, report: Callable[[str, bool], None]) -> None:
        """Load the files again whenever they have changed; `report` gets a sentence and `ok`.

        A pair that does not fit may be half written, so it is reported when it still does not fit
        at the next check. The certificate that was loaded before stays in use until then.
        """
        while True:
            await asyncio.sleep(interval)
            stamp = await asyncio.to_thread(_read_stamp, self.files)
            if stamp == self._stamp:
                continue
            try:
                self.certificate = await asyncio.to_thread(
                    reload_certificate, self.context, self.files
                )
            except SpinneyError as error:
                if self._problem == error.message:
                    report(f"{error.message} The one before stays in use.", False)
                    self._stamp = stamp
                self._problem = error.message
                continue
            self._stamp, self._problem = stamp, ""
            _log.info("the certificate was renewed")
            report("The server uses the renewed certificate.", True)


def _read_stamp(files: CertificateFiles) -> _Stamp:
    """Times and sizes of the files, from which a change is recognized."""
    stamps = []
    for path in (files.certificate, files.key):
        try:
            status = os.stat(path or "")  # noqa: PTH116 - through links, which renewals switch
        except OSError:
            stamps.append((0, 0))
        else:
            stamps.append((status.st_mtime_ns, status.st_size))
    return tuple(stamps)
