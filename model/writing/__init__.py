"""Short texts written by an agent outside of any session, such as pull request descriptions."""
