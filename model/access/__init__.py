"""Access for others than the owner: guest links, and tokens that act once."""
