"""Servers, clients, configurations and the page."""
