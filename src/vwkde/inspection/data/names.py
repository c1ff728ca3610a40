"""Names of files as they are shown and written."""


def plain(text: str) -> str:
    """Return a text of which every character can be written and shown: names of files can hold any bytes."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
