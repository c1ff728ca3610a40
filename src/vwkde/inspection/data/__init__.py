"""Images and masks: how they are read, how folders of them are laid out, and synthetic ones."""
