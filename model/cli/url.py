"""`spinney url`: the addresses of the server, with the token."""

from argparse import Namespace

from model.base.standard_streams import write_error, write_json, write_output
from model.cli.server_address import RunningServer, read_server


def url(options: Namespace) -> int:
    """Print every address at which the server can be reached; returns the exit code."""
    server = read_server()
    links = [
        each["url"] if options.no_token else server.sign_in_link(each["url"])
        for each in server.addresses
    ]
    if options.json:
        rows = zip(server.addresses, links, strict=True)
        write_json([{**each, "link": link} for each, link in rows])
        return 0
    width = max(map(len, links), default=0)
    for each, link in zip(server.addresses, links, strict=True):
        write_output(f"{link:<{width}}  {each['label']}\n")
    write_error("".join(f"{line}\n" for line in list_remarks(server)))
    return 0


def list_remarks(server: RunningServer) -> list[str]:
    """What to know about who can connect."""
    if server.status["localhost_only"]:
        port = server.status["port"]
        return [
            "Only this machine can connect. From another one: "
            f"ssh -L {port}:127.0.0.1:{port} HOST, or allow other devices: "
            'spinney call update_preferences \'{"changes": {"http_server_localhost_only": false}}\''
        ]
    return [server.status["warning"]] if server.status["warning"] else []
