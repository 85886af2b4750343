"""A stand-in for `glab` where it is not installed: `glab api` as its manual describes it.

It knows the options that Spinney uses and refuses others, reads hosts and tokens from
`config.yml`, and ends as glab does: the body goes to standard output even for an error, and a line
`glab: MESSAGE (HTTP STATUS)` to standard error with exit code 1.
"""

import argparse
import http.client
import json
import os
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

_PLACEHOLDER = re.compile(r":(?:fullpath|id|user|username|group|namespace|repo|branch)\b")


def main(arguments: list[str]) -> int:
    if "NO_PROMPT" in os.environ:
        print("DEPRECATION WARNING: The environment variable NO_PROMPT has been deprecated.")
    parser = argparse.ArgumentParser("glab", allow_abbrev=False)
    commands = parser.add_subparsers(required=True)
    api = commands.add_parser("api", allow_abbrev=False)
    api.add_argument("endpoint")
    api.add_argument("-X", "--method")
    api.add_argument("-H", "--header", action="append", default=[])
    api.add_argument("-i", "--include", action="store_true")
    api.add_argument("--input")
    api.add_argument("--hostname", required=True)
    options = api.parse_args(arguments[1:]) if arguments[:1] == ["api"] else parser.parse_args()
    if re.search("[/:]", options.hostname):
        return _fail("ERROR: error parsing --hostname: invalid hostname.")
    if _PLACEHOLDER.search(options.endpoint):
        return _fail("ERROR: unable to expand placeholder in path")
    return _request(options, _read_host(options.hostname))


def _read_host(hostname: str) -> dict[str, str]:
    """Return the settings of a host in the configuration, which has two spaces per level."""
    file = Path(os.environ["GLAB_CONFIG_DIR"]) / "config.yml"
    settings: dict[str, str] = {}
    host = ""
    for line in file.read_text().splitlines() if file.exists() else ():
        name, _, value = line.strip().partition(": ")
        if line.startswith("        ") and host == hostname:
            settings[name] = value
        elif line.startswith("    "):
            host = name.rstrip(":")
    if token := os.environ.get("GITLAB_TOKEN"):
        settings["token"] = token
    return settings


def _request(options: argparse.Namespace, settings: dict[str, str]) -> int:
    method = options.method or ("POST" if options.input else "GET")
    body = sys.stdin.buffer.read() if options.input == "-" else None
    headers = dict(header.split(": ", 1) for header in options.header)
    headers["PRIVATE-TOKEN"] = settings.get("token", "")
    address = settings.get("api_host", options.hostname)
    path = "/api/graphql" if options.endpoint == "graphql" else f"/api/v4/{options.endpoint}"
    for _ in range(5):
        connection = http.client.HTTPConnection(address, timeout=30)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
        except OSError as error:
            return _fail(f'ERROR\n\n  {method} "http://{address}{path}": dial tcp: {error}')
        if response.status not in (301, 302, 307, 308):
            break
        moved = urlsplit(response.headers["Location"])
        path = f"{moved.path}?{moved.query}" if moved.query else moved.path
    return _print(options, response)


def _print(options: argparse.Namespace, response: http.client.HTTPResponse) -> int:
    out = sys.stdout.buffer
    if options.include:
        out.write(f"HTTP/1.1 {response.status} {response.reason}\n".encode())
        for name, value in sorted(response.headers.items()):
            out.write(f"{name.title()}: {value}\r\n".encode())
        out.write(b"\r\n")
    if response.status == 204:
        return 0
    kept = b""
    while piece := response.read(1 << 16):
        out.write(piece)
        kept = kept or piece
    out.flush()
    if response.status <= 299:
        return 0
    try:
        message = json.loads(kept)["message"]
    except (ValueError, KeyError, TypeError):
        return _fail(f"glab: HTTP {response.status}")
    if isinstance(message, str):
        return _fail(f"glab: {message} (HTTP {response.status})")
    return _fail(f"glab: map[message:{message}]+")


def _fail(message: str) -> int:
    print(message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
