"""A stand-in for `glab` where it is not installed: `glab api` as version 1.53 of it behaves.

It knows the options that Spinney uses and refuses others, reads hosts and tokens from
`config.yml`, and ends as glab does: the body goes to standard output even for an error, and a line
`glab: MESSAGE (HTTP STATUS)` to standard error with exit code 1. The body of an error whose message
is no text is lost.
"""

import json
import os
import re
import socket
import sys

_PLACEHOLDER = re.compile(r":(?:fullpath|id|user|username|group|namespace|repo|branch)\b")
_OPTIONS = ("method", "hostname", "input", "include", "header")


def main(arguments: list[str]) -> int:
    if "NO_PROMPT" in os.environ:  # glab 1.74 and later
        print("DEPRECATION WARNING: The environment variable NO_PROMPT has been deprecated.")
    if os.environ.get("DEBUG"):
        print("[git remote -v]", file=sys.stderr)
    command, endpoint, *given = arguments
    options: dict[str, list[str]] = {}
    for name, _, value in (each.removeprefix("--").partition("=") for each in given):
        if name not in _OPTIONS:
            return _fail(f"unknown flag: --{name}")
        options.setdefault(name, []).append(value)
    if command != "api":
        return _fail(f'unknown command "{command}" for "glab"')
    hostname = options["hostname"][0]
    if re.search("[/:]", hostname):
        return _fail("error parsing --hostname: invalid hostname.")
    if _PLACEHOLDER.search(endpoint):
        return _fail("unable to expand placeholder in path")
    file = f"{os.environ['GLAB_CONFIG_DIR']}/config.yml"
    if (mode := os.stat(file).st_mode & 0o777) != 0o600:  # noqa: PTH116 - slow import
        wrong = f"failed to read configuration:  {file} has the permissions {mode:o}"
        print(f"{wrong}, but glab requires 600.", file=sys.stderr)
        print(f"Consider running `chmod 600 {file}`", file=sys.stderr)
        return 2
    settings = _read_host(file, hostname)
    address = settings.get("api_host", hostname)
    path = "/api/graphql/" if endpoint == "graphql" else f"/api/v4/{endpoint}"
    method = options.get("method", ["GET"])[0]
    headers = [f"PRIVATE-TOKEN: {settings.get('token', '')}", *options.get("header", [])]
    body = sys.stdin.buffer.read() if options.get("input") == ["-"] else b""
    try:
        return _request(method, address, path, headers, body, "include" in options)
    except OSError as error:
        reason = f"dial tcp {address}: connect: {error.strerror}".lower()
        return _fail(f'{method.title()} "http://{address}{path}": {reason}')


def _read_host(file: str, hostname: str) -> dict[str, str]:
    """Return the settings of a host in the configuration, which has four spaces per level."""
    settings: dict[str, str] = {}
    host = ""
    with open(file) as lines:  # noqa: PTH123 - slow import
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
            is_json = False
            while (line := answer.readline()).strip():
                is_json = is_json or b"/json" in line
                if include:
                    out.write(line)
            if include:
                out.write(b"\r\n")
            is_error = int(status) > 299
            message = ""
            if is_json and (is_error or path == "/api/graphql/"):
                found = answer.read()
                message, lost = _find_message(json.loads(found), int(status))
                if lost:
                    return _fail(lost)
                out.write(found)
            while piece := answer.read(1 << 16):
                out.write(piece)
            out.flush()
    if not is_error and not message:
        return 0
    print(f"glab: {message or f'HTTP {status}'}", file=sys.stderr)
    return 1


def _find_message(found: dict[str, object], status: int) -> tuple[str, str]:
    """Return the message of an error, and what becomes of it if it is no text."""
    message = found.get("message") or ""
    if not isinstance(message, str):
        kind = "array" if isinstance(message, list) else "object"
        lost = f"json: cannot unmarshal {kind} into Go struct field .Message of type string"
        return "", lost
    if message:
        return f"{message} (HTTP {status})", ""
    errors = found.get("errors")
    texts = [each["message"] for each in errors] if isinstance(errors, list) else []
    return "\n".join(texts), ""


def _fail(message: str) -> int:
    print(flush=True)
    print(message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
