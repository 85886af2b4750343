"""Every command of the command line, in the order of the help, and the help's examples."""

from model.cli.command_lines.decisions import ANSWER, APPROVE, DENY, STOP
from model.cli.command_lines.guests import GUESTS, SHARE
from model.cli.command_lines.opening import ATTACH, DEMO, OPEN
from model.cli.command_lines.reports import DOCTOR, EXPORT, NOTIFY, USAGE
from model.cli.command_lines.scripting import CALL, COMPLETION, EVENTS, SCHEMA
from model.cli.command_lines.server import QR, SERVE, SERVICE, TOKEN, URL
from model.cli.command_lines.sessions import (
    LOGS,
    LS,
    NEW,
    RESUME_COMMAND,
    SEND,
    SESSIONS,
    STATUS,
    WAIT,
)
from model.cli.command_lines.worktrees import BASE, CONFLICTS, DIFF, LAND, PRUNE, RECOVER, UNDO, WHY

COMMAND_LINES = (
    OPEN,
    DEMO,
    ATTACH,
    LS,
    STATUS,
    SESSIONS,
    NEW,
    SEND,
    WAIT,
    LOGS,
    APPROVE,
    DENY,
    ANSWER,
    STOP,
    DIFF,
    SHARE,
    GUESTS,
    RESUME_COMMAND,
    LAND,
    BASE,
    UNDO,
    PRUNE,
    CONFLICTS,
    NOTIFY,
    WHY,
    USAGE,
    RECOVER,
    EXPORT,
    SERVE,
    SERVICE,
    URL,
    QR,
    TOKEN,
    CALL,
    EVENTS,
    SCHEMA,
    DOCTOR,
    COMPLETION,
)

EXAMPLES = """\
examples:
  spinney                      open the terminal; offers to add the repository here
  spinney ~/code/alpha         the same for another repository
  spinney demo                 try it with a temporary repository and a built-in agent
  spinney attach devbox:3456   open a terminal for a Spinney on another machine
  spinney new "Fix the test"   start a task: worktree, session and first message
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
