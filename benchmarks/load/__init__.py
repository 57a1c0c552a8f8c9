"""Load and faults for servers: clients, malformed requests, a model with random weights."""
