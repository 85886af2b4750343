"""Short texts that an agent writes unwatched, such as a pull request's; part of no session."""
