"""What the terminal knows: the mirror of the state, conversation history, places."""
