"""The errors a user can act on. Everything else is a defect and keeps its traceback."""


class EgobenchError(Exception):
    """A failure whose message says what went wrong, where, and what to do about it."""

    exit_code = 1


class InputError(EgobenchError):
    """What the user gave cannot be used: a file, a record, an option or a folder."""

    exit_code = 2
