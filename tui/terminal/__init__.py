"""The terminal below Textual: input, output, capabilities, clipboard, subprocesses."""
