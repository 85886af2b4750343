"""What can be typed after `spinney`: commands, options and their help.

Imports the standard library only, so that `spinney --help` answers at once.
"""

import argparse

from model import __version__

EXAMPLES = """\
examples:
  spinney                      open the terminal; the repository here is offered as a project
  spinney ~/code/alpha         the same for another repository
  spinney demo                 try it: a throw-away repository and an agent that needs nothing
  spinney attach devbox:3456   the terminal of a Spinney on another machine
  spinney stop                 end the Spinney that goes on without a screen
  spinney serve --port 0       only the server, on a free port
  spinney call list_projects   one command against the running Spinney
  spinney doctor               what is installed, what is missing, what mends it
"""

CALL_EXAMPLES = """\
examples:
  spinney call list_projects
  spinney call create_worktree projectId=1c9… customName=calm-heron
  spinney call update_preferences '{"changes": {"theme": "dark"}}'

A value is read as JSON where it is some, else as text.
"""

SERVE_EXAMPLES = """\
examples:
  spinney serve                  at the port of the preferences, for this machine
  spinney serve --port 0 --json  at a free port; address, port, token and pid as one JSON line
  spinney serve --all-interfaces for other machines too; the token is their key

A token given with --token is seen by everybody who can list this machine's processes.
"""

OPEN_WORDS = """\
One Spinney keeps a data directory. Where one runs already, this opens another screen of it.

ctrl+q asks, while agents work, whether to leave them running or to quit. When the terminal goes
away (a hang-up, a closed window, a lost SSH connection) they go on by themselves. `spinney` shows
them again in any terminal; `spinney stop` ends them.

Without a screen Spinney stays while an agent works or waits for you, a screen is attached or the
server runs. Ten minutes after the last of it, it ends. ctrl+z gives the terminal to the shell, and
agents go on; `fg` comes back. A demo ends with its terminal.
"""

ATTACH_EXAMPLES = """\
examples:
  spinney attach                              the Spinney that runs here
  spinney attach http://devbox:3456           asks for the token
  SPINNEY_TOKEN=… spinney attach devbox:3456
  spinney attach 'http://devbox:3456/#token=…'

An address with a token is seen for a moment by everybody who can list this machine's processes; one
that is asked for is not. Over a network that is not yours: ssh -L 3456:127.0.0.1:3456 devbox, and
attach to 127.0.0.1:3456. Closing this screen ends nothing there.
"""

STOP_WORDS = """\
Agents are ended and what they had written is kept. Waits until it is over.
Exit code 0: nothing runs here any more; 1: it did not end, and the sentence says what to do.
"""

EVENTS_EXAMPLES = """\
examples:
  spinney events
  spinney events | grep --line-buffered session-waiting
"""

COMPLETION_EXAMPLES = """\
examples:
  eval "$(spinney completion bash)"                              in ~/.bashrc
  eval "$(spinney completion zsh)"                               in ~/.zshrc, after compinit
  spinney completion fish > ~/.config/fish/completions/spinney.fish
"""


def build_parser() -> argparse.ArgumentParser:
    """The command line; shell completion is made from it too."""
    parser = argparse.ArgumentParser(
        prog="spinney",
        usage="spinney [PATH] | spinney COMMAND …",
        description="Run AI coding agents on many branches at once, from one terminal.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"spinney {__version__}")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", prog="spinney"
    )

    def add(name: str, text: str, epilog: str | None = None) -> argparse.ArgumentParser:
        return commands.add_parser(
            name,
            help=text,
            description=text[:1].upper() + text[1:] + ".",
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    opening = add("open", "open the terminal (also without a command: spinney PATH)", OPEN_WORDS)
    opening.add_argument("path", nargs="?", default=".", metavar="PATH", help="a git repository")
    opening.add_argument("--demo", action="store_true", help="make the demo agent the default")
    showing = add("demo", "open the terminal on a throw-away repository with the demo agent")
    attach = add("attach", "open a terminal on a Spinney that runs elsewhere", ATTACH_EXAMPLES)
    attach.add_argument(
        "url", nargs="?", metavar="URL", help="its address; without one: the Spinney that runs here"
    )
    for screen in (opening, showing, attach):
        screen.add_argument(
            "--plain",
            action="store_true",
            help="for screen readers: no boxes, states in words, nothing that moves "
            "(also SPINNEY_PLAIN=1)",
        )
    add("stop", "end the Spinney that runs here, in good order", STOP_WORDS)
    serve = add("serve", "run the server alone, for other clients", SERVE_EXAMPLES)
    serve.add_argument("--port", type=int, metavar="N", help="port; 0 takes a free one")
    serve.add_argument(
        "--token", metavar="T", help="the token to ask for from now on, of 16 characters or more"
    )
    serve.add_argument(
        "--all-interfaces", action="store_true", help="let other machines in, not only this one"
    )
    serve.add_argument("--no-token", action="store_true", help="ask clients here for no token")
    serve.add_argument(
        "--unsafe-no-token",
        action="store_true",
        help="with --all-interfaces and --no-token: let anybody on the network in",
    )
    serve.add_argument("--demo", action="store_true", help="make the demo agent the default")
    serve.add_argument("--json", action="store_true", help="print one JSON line when it answers")
    call = add("call", "run one command against the running Spinney", CALL_EXAMPLES)
    call.add_argument("name", metavar="NAME", help="the command, such as list_projects")
    call.add_argument("arguments", nargs="*", metavar="name=value | JSON")
    add("events", "follow what happens, a JSON object a line", EVENTS_EXAMPLES)
    add("schema", "print every command, event, resource and preference as JSON Schema")
    doctor = add("doctor", "show what is installed, what is missing and what mends it")
    doctor.add_argument("--json", action="store_true", help="print it as JSON")
    completion = add("completion", "print a completion script for a shell", COMPLETION_EXAMPLES)
    completion.add_argument("shell", choices=["bash", "zsh", "fish"])
    return parser
