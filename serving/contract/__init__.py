"""Checks that any server, TensorFlow Serving or the embedded one, keeps the contract."""
