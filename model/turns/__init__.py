"""The turns of sessions: what each did to the files, and how it is undone."""
