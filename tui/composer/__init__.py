"""The message box: drafts, images, slash commands, completion."""
