#!/bin/sh
# Gives an agent a task, approves its plan, commits what it did and lands it:
#
#     examples/task.sh NAME "PROMPT"
#
# Run it in a repository that is a project of the running Spinney. It ends with the exit code of what
# failed: see docs/cli.md.
set -eu
name=$1
prompt=$2
spinney=${SPINNEY:-spinney}

task=$($spinney new "$prompt" --name "$name")
path=${task##*  } # The directory of the new worktree is the last column.

code=0
$spinney wait "$name" --timeout 1h || code=$?
case $code in
0) ;; # It was done without a plan.
7)
    $spinney approve "$name" --build --yes # Shows the plan; anything but a plan is an error.
    $spinney wait "$name" --timeout 4h
    ;;
*) exit $code ;;
esac

$spinney diff "$name" --stat
git -C "$path" add --all
git -C "$path" commit --quiet --message "$prompt"
$spinney land "$name" --method squash --message "$prompt" --yes
