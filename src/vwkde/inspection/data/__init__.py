"""Images and masks: how they are read, how they lie in folders, and synthetic ones."""
