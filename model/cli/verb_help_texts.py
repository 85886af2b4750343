"""Notes and examples in the help of the commands that work with sessions."""

_IDS = """\
A session is named by its name, the beginning of its id, or the name or branch of a worktree that
has only one. If several match, they are listed, and nothing is done (exit code 2).
"""

LS = """\
examples:
  spinney ls                 everything, with what is waiting for you
  spinney ls alpha           one project
  spinney ls --json | jq -r '.sessions[] | select(.status == "waiting") | .id'

With --json: {"projects": [Project], "worktrees": [Worktree], "sessions": [SessionRow]}. Without a
running Spinney it shows what was saved last.
"""

STATUS = f"""\
examples:
  spinney status             the sessions of this directory, and all that wait for you
  spinney status parser      one session: its state, what it asks, its queue

With --json and a SESSION: {{"session": Session, "worktree": Worktree, "queued": [Message]}};
without one: {{"sessions": [SessionRow], "waiting": [SessionRow]}}.

{_IDS}"""

SESSIONS = """\
examples:
  spinney sessions --state running waiting
  spinney sessions --project alpha --search "parser rows"
  spinney sessions --archived --json

The last used come first. With --json: {"sessions": [SessionRow], "total": N}.
"""

NEW = """\
examples:
  spinney new "Find out why the parser drops the last row"
  spinney new --mode build --name parser-rows --wait "Fix the parser" && spinney diff parser-rows
  git log -5 | spinney new --file - "Explain these commits"
  spinney new --worktree . "Write the tests"

Prints the new worktree and session once the worktree exists; the agent begins when the worktree's
`setup` is done. With --wait it prints the agent's answer, and its exit code is that of
`spinney wait`. With --json: {"worktree": Worktree, "session": Session, "message_id": "…"}.
A PROMPT and --file together: the text of the file follows the prompt.
"""

SEND = f"""\
examples:
  spinney send parser "Now write the tests"
  spinney send parser --wait - < review.md
  spinney send "Go on"       the session of this directory
  spinney send parser --at reset "Go on"   when its usage limit ends
  spinney send parser --steer "Not that file"   into the running turn

A message to a session at work is queued. One to a session with a plan or a question discusses or
answers it. With --wait it prints the agent's answer, and its exit code is that of `spinney wait`.
With --json: {{"message_id": "…", "status": "…"}}.

{_IDS}"""

WAIT = f"""\
examples:
  spinney wait parser && spinney land parser --yes
  spinney wait parser tail docs --any --timeout 15m

Waits until each session is done, waits for you or has failed, and prints one line for each.

exit codes:
  0    all are done
  1    a run failed or was stopped, or the `setup` of its worktree failed
  7    a plan, question or permission waits for you
  8    paused until you resume it; a pause that ends by itself is waited for
  124  the time is over

If several apply, the first of 1, 7, 8 counts. With --json: {{"sessions": [SessionRow]}}.

{_IDS}"""

LOGS = f"""\
examples:
  spinney logs parser        the whole conversation
  spinney logs -f -n 1       the last message of this directory's session, and what comes
  spinney logs parser --json | jq .role

With --json each line is a Message; with -f, each message once it is complete. Without a running
Spinney it prints what was saved last.

{_IDS}"""

APPROVE = f"""\
examples:
  spinney approve            what waits in this directory, after a question
  spinney approve parser --yolo --yes
  spinney approve parser --json   what would be approved, as JSON

What is approved is shown first. With --json, and without --yes, it is only printed. If it was
replaced by something else meanwhile, nothing is approved. Exit code 1: not confirmed.

{_IDS}"""

DENY = f"""\
examples:
  spinney deny parser --reason "Use the test database"

To change a plan, send a message: spinney send SESSION TEXT

{_IDS}"""

ANSWER = f"""\
examples:
  spinney answer parser              show the question and its options
  spinney answer parser --option 2
  spinney answer . "Keep the old name"

{_IDS}"""

STOP = f"""\
examples:
  spinney stop                       shut Spinney down
  spinney stop --session parser      stop what runs in one session

Without --session, agents are stopped, and their output so far is kept. Waits until Spinney has
ended. Exit code 0: nothing is running any more; 1: it did not end; 3: it does not respond. The
message says what to do. --session stops a run; queued messages stay queued.

{_IDS}"""

DIFF = """\
examples:
  spinney diff                       all changes in this worktree since it left its base branch
  spinney diff parser --stat
  spinney diff parser > parser.patch

Committed changes, uncommitted ones and new files, compared with where the branch left its base. On
a terminal it is shown with colors in the pager of git; otherwise it is a patch for `git apply`.
"""

SHARE = f"""\
examples:
  spinney share parser --role approver --for 8h --name Ann
  spinney share --project alpha --devices 3
  spinney share parser --json | jq -r .url

The link is printed only now: Spinney keeps a hash. A viewer reads; an approver also answers
permissions, questions and plans; a driver also sends messages. With --json: NewGuestLink.

{_IDS}"""

GUESTS = """\
examples:
  spinney guests
  spinney guests --log
  spinney guests --revoke Ann

With --json: [GuestLink], or with --log [GuestAction].
"""

RESUME_COMMAND = """\
examples:
  spinney resume-command parser         cd ~/spinney/alpha/parser && claude --resume …
  eval "$(spinney resume-command)"      go there at once

The session's agent is ended first, so that both do not write. What is said there is added to the
session with its next message. Fails during a turn.
"""
