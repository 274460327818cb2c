"""What one who looks at the clips alone says of a statement: a model in an audit, a person in a review."""

from enum import StrEnum


class Seen(StrEnum):
    """Whether the clips bear a statement out (EgoGears C.3, C.5)."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    CANNOT_TELL = "cannot tell"
