"""The command line: parser, help, completion, and the commands that need no terminal."""
