"""The terminal layer below Textual: input, output, capabilities, clipboard, subprocesses."""
