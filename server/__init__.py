"""Remote clients' door: the same commands, state and events over HTTP and WebSocket."""
