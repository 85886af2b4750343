"""A repository's own scripts: which there are, which are trusted, and how they run."""
