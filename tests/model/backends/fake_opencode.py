"""A stub for `opencode serve`, driven by `script.json` beside it.

Each connection to the event stream gets the next list of lines; calls are answered by their paths.
"""

import base64
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SCRIPT = json.loads(Path(__file__).with_name("script.json").read_text())
CONNECTIONS = iter(SCRIPT["connections"])
USER, PASSWORD = (os.environ[f"OPENCODE_SERVER_{name}"] for name in ("USERNAME", "PASSWORD"))
LOGIN = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.headers.get("Authorization") != LOGIN:
            self.respond(401, {})
        elif self.path == "/global/event":
            self.send_events()
        elif self.path.startswith("/die"):
            print(SCRIPT["stderr"], file=sys.stderr, flush=True)
            os._exit(7)
        else:
            path = self.path.partition("?")[0]
            self.respond(*SCRIPT["answers"].get(path, (404, {"data": {"message": "Unknown"}})))

    def respond(self, status: int, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_events(self) -> None:
        self.send_response(200)
        self.end_headers()
        lines = next(CONNECTIONS, None)
        for line in lines or ():
            self.wfile.write(f"data: {line}\n\n".encode())
            self.wfile.flush()
        if lines is None:
            self.wfile.write(b": end of script\n\n")
            self.wfile.flush()
            threading.Event().wait()

    def log_message(self, *_args: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Handler)
print(f"opencode server listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
