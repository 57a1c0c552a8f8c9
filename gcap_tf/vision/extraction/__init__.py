"""Folders of pictures to region stores: by local processes, or on a cluster."""
