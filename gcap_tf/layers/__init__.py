"""The few layers that the models share."""
