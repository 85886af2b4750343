"""The application, the main screen, startup and exit, the command palette, notifications."""
