"""Names of files as they are shown and written."""


def plain(text: str) -> str:
    """Return a text with all unprintable characters escaped: file names can contain any bytes."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
