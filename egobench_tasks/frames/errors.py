"""What can go wrong with a clip."""

from egobench_tasks.errors import EgobenchError


class ClipError(EgobenchError):
    """A clip that cannot give the frames asked for.

    ``path``: the clip. ``reason``: what is wrong with it. ``good_frames``: how many of its frames
    were decoded before that.
    """

    def __init__(self, path: str, reason: str, good_frames: int = 0) -> None:
        super().__init__(f"{path}: {reason} ({good_frames} frames decoded before that)")
        self.path = path
        self.reason = reason
        self.good_frames = good_frames

    def __reduce__(self) -> tuple[type["ClipError"], tuple[str, str, int]]:
        """Pickle by the three fields: errors cross process borders when a store is filled."""
        return ClipError, (self.path, self.reason, self.good_frames)
