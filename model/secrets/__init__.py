"""Finds keys, tokens and passwords in texts: to keep them out of commits, and to mask them."""
