"""Text from outside, made fit to be written down."""


def well_formed(text: str) -> str:
    """Return the text with every lone surrogate replaced by U+FFFD, and halves of a pair that met joined.

    JSON and Python literals can spell half a character (``"\\ud800"``), which no file, table or request can hold.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
