"""Data of the terminal: the mirror of the state, conversation history, places, drafts."""
