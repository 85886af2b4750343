"""Run git: read and change repositories."""
