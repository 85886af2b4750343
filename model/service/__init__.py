"""What keeps Spinney reachable: the service, addresses, certificates, its installation."""
