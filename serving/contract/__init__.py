"""The contract of a server, with checks for TensorFlow Serving and the embedded server."""
