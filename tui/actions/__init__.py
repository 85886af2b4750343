"""What each action of the key map does, one file per area."""
