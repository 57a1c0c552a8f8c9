"""The HTTP front of the server: connections, heads and bodies, TLS."""
