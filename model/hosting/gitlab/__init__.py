"""GitLab, through its own program `glab`."""
