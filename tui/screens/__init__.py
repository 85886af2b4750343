"""Whole-screen views and dialogs."""
