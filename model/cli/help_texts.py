"""Notes and examples below the options in the help of each command."""

EXAMPLES = """\
examples:
  spinney                      open the terminal; offers to add the repository here
  spinney ~/code/alpha         the same for another repository
  spinney demo                 try it with a temporary repository and a built-in agent
  spinney attach devbox:3456   open a terminal for a Spinney on another machine
  spinney new "Fix the parser" start a task: worktree, session and first message
  spinney ls                   list projects, worktrees and sessions
  spinney approve              approve what waits in this directory
  spinney stop                 shut down a Spinney that is running in the background
  spinney serve --port 0       run only the server, on a free port
  spinney service install      start Spinney with this machine, and keep it running
  spinney url                  print the addresses of the server, with the token
  spinney qr                   show one as a QR code, for a phone
  spinney call list_projects   run one command of the running Spinney
  spinney recover              list deleted worktrees, and bring them back
  spinney undo                 undo the last turn of the agent in this worktree
  spinney land                 bring the worktree of this directory into its base branch
  spinney prune                list worktrees that are no longer needed, with their sizes
  spinney why app.py:12        show which turn wrote a line, and its prompt
  spinney conflicts            list worktrees that are heading for a conflict
  spinney usage                show what agents used, and what it cost
  spinney doctor               show what is installed, what is missing and how to fix it
  spinney export talks         export every conversation to a new folder

`spinney --plain` opens it in screen-reader mode.

exit codes:
  0    success
  1    failed or not confirmed; the message says why
  2    invalid command line; also a name that several things have
  3    no Spinney is running here, or it does not respond
  4    not found: a project, worktree or session does not exist
  5    not allowed: authentication_error, forbidden
  6    try again later: rate_limit_error, timeout, backend_unavailable
  7    a session waits for you (wait, and --wait)
  8    a session is paused until you resume it (wait, and --wait)
  124  the time of --timeout is over
  130  interrupted by ctrl+c

environment:
  SPINNEY_DATA_DIR     directory of projects and conversations
  SPINNEY_CONFIG_DIR   directory of preferences.json, agents.toml and models.toml
  SPINNEY_LOG          log level: trace, debug, info, warn or error
  SPINNEY_TOKEN        token for `spinney attach`
  SPINNEY_PLAIN=1      same as --plain
  SPINNEY_ASCII=1      draw with ASCII only; =0 draws boxes in any locale
  SPINNEY_MOTION=0     turn no spinner
  NO_COLOR=1, TEXTUAL_COLOR_SYSTEM, ESCDELAY: see docs/cli.md
"""

CALL_EXAMPLES = """\
examples:
  spinney call                            list all commands
  spinney call create_worktree --help     show one command and its arguments
  spinney call list_projects
  spinney call add_project path=.
  spinney call create_worktree projectId=1c9… customName=parser-rows
  spinney call update_preferences '{"changes": {"theme": "dark"}}'

Values of text arguments are used as typed; others are parsed as JSON. Paths may be relative or
start with ~. A JSON object is passed unchanged. The result is printed as JSON.
"""

SERVE_EXAMPLES = """\
examples:
  spinney serve                  on the port of the preferences, for this machine only
  spinney serve --port 0 --json  on a free port; prints address, port, token and pid as JSON
  spinney serve --all-interfaces for other machines too, which need the token
  spinney serve --host 100.64.0.7
                                 for those of a VPN in which this machine has that address
  spinney serve --all-interfaces --certificate box.crt --key box.key
                                 over HTTPS; renewed files are used without a restart

--token is saved for later runs; all other options apply to this run only.
A token given with --token is visible to everyone who can list this machine's processes.
"""

SERVICE_EXAMPLES = """\
examples:
  spinney service install          start Spinney now and with this machine; also updates the service
  spinney service install --linger the same, and keep it running when you are logged out
  spinney service install --print  show what would be written
  spinney service                  show whether it runs, and how to see its log
  spinney service uninstall        stop it, and do not start it again; your data is kept

The service is one of your user, with systemd or launchd. It runs `spinney serve --wait` with the
PATH of the shell that installed it, so that it finds the same agents. Its address, port, network
access and certificate are preferences. Exit code of status: 3 if it does not run.
"""

URL_EXAMPLES = """\
examples:
  spinney url             every address, signed in: open one in a browser
  spinney url --no-token  without the token
  spinney attach "$(spinney url | head -1 | cut -d' ' -f1)"

Those that other devices reach come first; of a VPN and of a certificate, its name is given.
"""

QR_NOTES = """\
Point a phone's camera at it: the page opens, signed in. `spinney url` lists the addresses.
"""

TOKEN_NOTES = """\
Use `spinney token rotate` when others may know the token. All devices are disconnected and must
sign in with the new one, which `spinney url` and `spinney qr` show. Agents keep working.
"""

RECOVER_EXAMPLES = """\
examples:
  spinney recover                              list what was deleted or discarded
  spinney recover restore 3f2a91c0             bring a worktree back with its sessions
  spinney recover files 3f2a91c0               list the files of a recovery point
  spinney recover files 3f2a91c0 src/parse.py  bring a file back into its worktree

Recovery points are made before a worktree is deleted, and before uncommitted changes may be lost.
"""

UNDO_EXAMPLES = """\
examples:
  spinney undo                     the newest turn in the worktree of this directory
  spinney undo Tests --turn 3      turn 3 of the session Tests, and the conversation since
  spinney undo --files --yes       only its changes to files, without being asked
  spinney undo --before src/a.py   take this file as it was before the turn
  spinney undo --redo              bring back what was undone

Changes that others made since stay. A file whose same lines were changed since needs --keep or
--before. With --json, and without --yes, only the preview is printed. Exit code 1: not confirmed.
"""

LAND_EXAMPLES = """\
examples:
  spinney land                               the worktree of this directory, after a question
  spinney land parser --method squash --yes  without being asked
  spinney land --undo                        take the newest landing of this project back
  spinney land --train parser tail docs      several, each checked on top of those before

What would happen is shown first. The base branch moves beside all checkouts; one in which it is
checked out follows if it is clean. With --json, and without --yes, only the preview is printed, or
a train runs and does not land. A train lands with --yes only if every worktree is ready.
Exit code 1: refused, not confirmed, or not all landed.
"""

PRUNE_EXAMPLES = """\
examples:
  spinney prune                            what would go, what stays and why; changes nothing
  spinney prune --delete                   delete those that are merged, after a question
  spinney prune --older-than 30 --archive  those not used for 30 days, merged or not
  spinney prune --project alpha --json     the list as JSON

A worktree with uncommitted files, commits that are nowhere else or a session at work always stays.
Without --merged and --older-than, those go that are merged. Each deleted worktree has a recovery
point: spinney recover.
"""

WHY_EXAMPLES = """\
examples:
  spinney why src/parse.py:120         the turn that wrote a line, its prompt and its plan
  spinney why --json src/parse.py:120  the same as JSON

The file is one of a worktree that Spinney knows. A line that is older than the worktree is
explained by its commit.
"""

CONFLICTS_EXAMPLES = """\
examples:
  spinney conflicts        which worktrees changed the same places, committed or not
  spinney conflicts alpha  those of the project alpha
"""

OPEN_NOTES = """\
Only one Spinney runs per data directory. If one is already running, this attaches to it.

While agents work, ctrl+q asks whether to leave them running or to quit. If the terminal goes away
(hang-up, closed window, lost SSH connection), they keep running. `spinney` opens them again in any
terminal; `spinney stop` shuts Spinney down.

Without a terminal, Spinney keeps running while an agent works or waits for you, another terminal is
attached or the server is on. It exits after ten minutes without any of these. ctrl+z suspends the
terminal while agents keep running; `fg` resumes it. A demo ends with its terminal.
"""

ATTACH_EXAMPLES = """\
examples:
  spinney attach                              the Spinney on this machine
  spinney attach http://devbox:3456           prompts for the token
  SPINNEY_TOKEN=… spinney attach devbox:3456
  spinney attach 'http://devbox:3456/#token=…'

A token in the address is briefly visible to everyone who can list this machine's processes; one
that is typed at the prompt is not. On an untrusted network, run
ssh -L 3456:127.0.0.1:3456 devbox and attach to 127.0.0.1:3456. Closing this terminal stops nothing
there.
"""

EVENTS_EXAMPLES = """\
examples:
  spinney events
  spinney events | grep --line-buffered session-waiting
  spinney events --since 4711   start with the events after this number
  spinney events --since 0      start with all events that are kept
  spinney events --session parser --only message-completed,session-waiting

Each line has its number as "seq". If the connection is lost or Spinney is restarted, it reconnects
and continues after the last line; ctrl+c ends it. Spinney keeps the newest 1000 events of its run;
missing events are reported on the error stream.
"""

NOTIFY_EXAMPLES = """\
examples:
  spinney notify                        what waits for you, and what is new
  spinney notify --test                 a test notice on every channel that is set up
  spinney notify --test --channel ntfy

The exit code is 1 if a channel failed. docs/notices.md describes how to reach your phone.
"""

DOCTOR_NOTES = """\
Each line starts with `ok`, with `BAD` for a problem to fix, or with `·` for something optional.
The exit code is 1 if a line starts with BAD, otherwise 0.

Spinney backs its database up once a day and keeps seven backups. --repair rebuilds a damaged
database from what can be read of it and of the newest backup; --restore replaces it by a backup.
Both keep the previous file. Neither works while Spinney is running: run `spinney stop` first.
"""

EXPORT_NOTES = """\
examples:
  spinney export talks
  spinney export --session parser > parser.md
  spinney export talks --from ~/.local/share/spinney/backups/spinney-20260101-120000.db

With FOLDER it writes one Markdown file per session, by project and worktree, and spinney.jsonl: one
JSON object per line for each project, worktree, session and message. Spinney may be running
meanwhile. Damaged parts are marked as unreadable.
"""

COMPLETION_EXAMPLES = """\
examples:
  eval "$(spinney completion bash)"                              in ~/.bashrc
  eval "$(spinney completion zsh)"                               in ~/.zshrc, after compinit
  spinney completion fish > ~/.config/fish/completions/spinney.fish
"""

USAGE_EXAMPLES = """\
examples:
  spinney usage                             tokens and cost of each day
  spinney usage --by model --since 2026-11-01
  spinney usage --by session --csv          for a spreadsheet

Costs are list prices, as the agents report them; a subscription is not charged by them. ~ marks
those that are estimated, + those of which a part is unknown.
"""
