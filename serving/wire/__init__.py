"""What a client says to a server, without TensorFlow: messages, tensors, checks of inputs."""
