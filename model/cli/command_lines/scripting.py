"""The commands for scripts and shells."""

from model.cli.command_parser import CommandLine, Parser, number


def _add_call(call: Parser) -> None:
    call.add_argument(
        "name", nargs="?", metavar="NAME", help="the command; by default, list all commands"
    )
    call.add_argument("arguments", nargs="*", metavar="name=value | JSON")
    call.add_argument(
        "-h", "--help", action="store_true", help="show this help, or that of the command"
    )


CALL = CommandLine(
    "call",
    "run one command of the running Spinney",
    _add_call,
    """\
examples:
  spinney call                            list all commands
  spinney call create_worktree --help     show one command and its arguments
  spinney call list_projects
  spinney call add_project path=.
  spinney call create_worktree projectId=1c9… customName=parser-rows
  spinney call update_preferences '{"changes": {"theme": "dark"}}'

Values of text arguments are used as typed; others are parsed as JSON. Paths may be relative or
start with ~. A JSON object is passed unchanged. The result is printed as JSON.
""",
    has_help=False,
)


def _add_events(events: Parser) -> None:
    events.add_argument(
        "--since", type=number, metavar="N", help="start after the event with this number"
    )
    events.add_argument(
        "--session",
        dest="sessions",
        nargs="+",
        action="extend",
        metavar="SESSION",
        help="only events of these sessions: names or ids",
    )
    events.add_argument(
        "--only",
        nargs="+",
        action="extend",
        metavar="NAME,NAME",
        help="only events with these names",
    )


EVENTS = CommandLine(
    "events",
    "follow events, one JSON object per line",
    _add_events,
    """\
examples:
  spinney events
  spinney events | grep --line-buffered session-waiting
  spinney events --since 4711   start with the events after this number
  spinney events --since 0      start with all events that are kept
  spinney events --session parser --only message-completed,session-waiting

Each line has its number as "seq". If the connection is lost or Spinney is restarted, it reconnects
and continues after the last line; ctrl+c ends it. Spinney keeps the newest 1000 events of its run;
missing events are reported on the error stream.
""",
)


SCHEMA = CommandLine("schema", "print every command, event, resource and preference as JSON Schema")


def _add_completion(completion: Parser) -> None:
    completion.add_argument("shell", choices=["bash", "zsh", "fish"])


COMPLETION = CommandLine(
    "completion",
    "print a completion script for a shell",
    _add_completion,
    """\
examples:
  eval "$(spinney completion bash)"                              in ~/.bashrc
  eval "$(spinney completion zsh)"                               in ~/.zshrc, after compinit
  spinney completion fish > ~/.config/fish/completions/spinney.fish
""",
)
