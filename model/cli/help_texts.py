"""What stands below the options in the help of each command of the command line."""

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
  spinney export talks         every conversation as files, in a new folder

`spinney --plain` opens it for screen readers.

exit codes:
  0    done
  1    refused or failed; the sentence says why
  2    the command line cannot be understood
  3    no Spinney is running here, or it does not answer
  4    what was asked for does not exist
  130  ended by ctrl+c

environment:
  SPINNEY_DATA_DIR     where projects and conversations are kept
  SPINNEY_CONFIG_DIR   where preferences.json, agents.toml and models.toml are
  SPINNEY_LOG          how much the log tells: trace, debug, info, warn or error
  SPINNEY_TOKEN        the token of the Spinney that `attach` leads to
  SPINNEY_PLAIN=1      as --plain
  SPINNEY_ASCII=1      draw with ASCII alone; =0 draws boxes in any locale
  NO_COLOR=1, TEXTUAL_COLOR_SYSTEM, ESCDELAY as docs/command-line.md tells
"""

CALL_EXAMPLES = """\
examples:
  spinney call                            all commands, each with what it does
  spinney call create_worktree --help     one command and its arguments
  spinney call list_projects
  spinney call add_project path=.
  spinney call create_worktree projectId=1c9… customName=parser-rows
  spinney call update_preferences '{"changes": {"theme": "dark"}}'

Where a command takes text, a value is taken as it stands; all else is read as JSON. A path may be
relative or begin with ~. A JSON object is taken exactly as it is. The result is printed as JSON.
"""

SERVE_EXAMPLES = """\
examples:
  spinney serve                  at the port of the preferences, for this machine
  spinney serve --port 0 --json  at a free port; address, port, token and pid as one JSON line
  spinney serve --all-interfaces for other machines too; the token is their key

--token is kept for the next time; all other options count for this run alone.
A token given with --token is seen by everybody who can list this machine's processes.
"""

OPEN_WORDS = """\
One Spinney keeps a data directory. Where one runs already, this opens another screen of it.

ctrl+q asks, while agents work, whether to leave them running or to quit. When the terminal goes
away (a hang-up, a closed window, a lost SSH connection) they go on by themselves. `spinney` shows
them again in any terminal; `spinney stop` ends them.

Without a screen Spinney stays while an agent works or waits for you, a screen is attached or the
server runs. Ten minutes after none of that holds any more, it ends by itself. ctrl+z gives the
terminal to the shell, and agents go on; `fg` comes back. A demo ends with its terminal.
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
Exit code 0: nothing runs here any more; 1: it did not end; 3: it does not answer. The sentence says
what to do.
"""

EVENTS_EXAMPLES = """\
examples:
  spinney events
  spinney events | grep --line-buffered session-waiting
  spinney events --since 4711   first what followed the event of this number
  spinney events --since 0      first all that is kept

Each line has its number as "seq". Where the connection is lost, or Spinney is started anew, it
connects again by itself and goes on after the last line; ctrl+c ends it. Spinney keeps the newest
1000 events of its run; the error stream says where some are missing.
"""

DOCTOR_WORDS = """\
Each line begins with `ok`, with `BAD` where something must be mended, or with `·` for what is
neither: what may be missing. Exit code 0, or 1 where a line begins with BAD.

Spinney makes a backup of its database a day and keeps seven. --repair makes a damaged database
whole from what can be read of it and of the newest backup, --restore goes back to a backup. Both
keep the database as it was beside the new one. Neither runs while a Spinney does (spinney stop).
"""

EXPORT_WORDS = """\
examples:
  spinney export talks
  spinney export talks --from ~/.local/share/spinney/backups/spinney-20260101-120000.db

A Markdown file for each session, by project and worktree, and spinney.jsonl: a JSON object a line
for each project, worktree, session and message. A Spinney may run meanwhile. What is damaged stands
as unreadable in its place.
"""

COMPLETION_EXAMPLES = """\
examples:
  eval "$(spinney completion bash)"                              in ~/.bashrc
  eval "$(spinney completion zsh)"                               in ~/.zshrc, after compinit
  spinney completion fish > ~/.config/fish/completions/spinney.fish
"""
