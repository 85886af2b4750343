"""The application, the main screen, start and exit, the command palette, notifications."""
