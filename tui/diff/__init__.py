"""The diff screen: its view, file list, bars, comments and actions."""
