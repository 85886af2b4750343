"""A stand-in for `glab` where it is not installed: `glab api` as its manual describes it.

It knows the options that Spinney uses and refuses others, reads hosts and tokens from
`config.yml`, and ends as glab does: the body goes to standard output even for an error, and a line
`glab: MESSAGE (HTTP STATUS)` to standard error with exit code 1.
"""

import json
import os
import re
import socket
import sys

_PLACEHOLDER = re.compile(r":(?:fullpath|id|user|username|group|namespace|repo|branch)\b")
_OPTIONS = ("method", "hostname", "input", "include", "header")


def main(arguments: list[str]) -> int:
    if "NO_PROMPT" in os.environ:
        print("DEPRECATION WARNING: The environment variable NO_PROMPT has been deprecated.")
    command, endpoint, *given = arguments
    options: dict[str, list[str]] = {}
    for name, _, value in (each.removeprefix("--").partition("=") for each in given):
        if name not in _OPTIONS:
            return _fail(f"ERROR: unknown flag: --{name}")
        options.setdefault(name, []).append(value)
    if command != "api":
        return _fail(f"ERROR: unknown command {command!r}")
    hostname = options["hostname"][0]
    if re.search("[/:]", hostname):
        return _fail("ERROR: error parsing --hostname: invalid hostname.")
    if _PLACEHOLDER.search(endpoint):
        return _fail("ERROR: unable to expand placeholder in path")
    settings = _read_host(hostname)
    address = settings.get("api_host", hostname)
    path = "/api/graphql" if endpoint == "graphql" else f"/api/v4/{endpoint}"
    method = options["method"][0]
    headers = [f"PRIVATE-TOKEN: {settings.get('token', '')}", *options.get("header", [])]
    body = sys.stdin.buffer.read() if options.get("input") == ["-"] else b""
    try:
        return _request(method, address, path, headers, body, "include" in options)
    except OSError as error:
        return _fail(f'ERROR\n\n  {method} "http://{address}{path}": dial tcp: {error}')


def _read_host(hostname: str) -> dict[str, str]:
    """Return the settings of a host in the configuration, which has four spaces per level."""
    settings: dict[str, str] = {}
    host = ""
    with open(f"{os.environ['GLAB_CONFIG_DIR']}/config.yml") as lines:  # noqa: PTH123 - slow import
        for line in lines:
            name, _, value = line.strip().partition(": ")
            if line.startswith("        ") and host == hostname:
                settings[name] = value
            elif line.startswith("    "):
                host = name.rstrip(":")
    if token := os.environ.get("GITLAB_TOKEN"):
        settings["token"] = token
    return settings


def _request(
    method: str, address: str, path: str, headers: list[str], body: bytes, include: bool
) -> int:
    host, _, port = address.partition(":")
    head = [f"{method} {path} HTTP/1.0", f"Host: {address}", f"Content-Length: {len(body)}"]
    with socket.create_connection((host, int(port or 80)), timeout=60) as connection:
        connection.sendall("\r\n".join((*head, *headers, "", "")).encode() + body)
        with connection.makefile("rb") as answer:
            status, reason = answer.readline().decode().strip().split(" ", 2)[1:]
            out = sys.stdout.buffer
            if include:
                out.write(f"HTTP/1.1 {status} {reason}\n".encode())
            while (line := answer.readline()).strip():
                if include:
                    out.write(line)
            if include:
                out.write(b"\r\n")
            kept = b""
            while piece := answer.read(1 << 16):
                out.write(piece)
                kept = kept or piece
            out.flush()
    if int(status) <= 299:
        return 0
    try:
        message = json.loads(kept)["message"]
    except (ValueError, KeyError, TypeError):
        return _fail(f"glab: HTTP {status}")
    if isinstance(message, str):
        return _fail(f"glab: {message} (HTTP {status})")
    return _fail(f"glab: map[message:{message}]+")


def _fail(message: str) -> int:
    print(message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
