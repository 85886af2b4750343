"""What nothing that Spinney starts may inherit: other repositories' variables, and its terminal."""

import os

NOT_INHERITED = frozenset({
    # `git rev-parse --local-env-vars`, and others of one command: set where Spinney is started from
    # a hook or a git alias, where they would redirect every call to that one repository.
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE", "GIT_REPLACE_REF_BASE", "GIT_NO_REPLACE_OBJECTS", "GIT_IMPLICIT_WORK_TREE",
    "GIT_INTERNAL_SUPER_PREFIX", "GIT_QUARANTINE_PATH", "GIT_REFLOG_ACTION",
    "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
    "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE",
    # Editors set these for their own calls. Here they would change which files and lines are meant.
    "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
    "GIT_ATTR_SOURCE", "GIT_DIFF_OPTS", "GIT_EXTERNAL_DIFF",
    # A terminal that Spinney draws on: gpg's pinentry would open it and take its keys.
    "GPG_TTY",
})  # fmt: skip
"""Environment variables. Values of `GIT_CONFIG_COUNT` are ignored without it."""


def drop_variables() -> None:
    """Remove these variables from the environment of this process."""
    for name in NOT_INHERITED & os.environ.keys():
        os.environ.pop(name, None)
