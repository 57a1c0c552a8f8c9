"""Convolutional networks that turn a canvas into maps of stride 8, 16 and 32."""
