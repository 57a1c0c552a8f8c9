"""One function per published row: configuration, command, cost, expected score."""
