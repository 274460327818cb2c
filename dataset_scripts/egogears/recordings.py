"""What a recording's name says of who walked where, how fast and in which light (PROTOCOL 1.1); never a guess."""

import re
from dataclasses import dataclass

_CODED = re.compile(
    r"(?P<participant>P\d{2})_(?P<speed>SlowWalk|FastWalk|Running|Run)_(?P<lighting>Day|Night)"
    r"(?:_(?P<route>Traj\d{2}))?(?:_Trial\d{2})?"
)
_CODED_SPEEDS = {"SlowWalk": "slow_walk", "FastWalk": "fast_walk", "Running": "run", "Run": "run"}
_WORDS = {
    "slow": "slow",
    "langsam": "slow",
    "fast": "fast",
    "schnell": "fast",
    "run": "run",
    "running": "run",
    "joggen": "run",
    "walk": "walk",
    "normal": "walk",
    "laufen": "walk",
}
_SPEEDS = {
    frozenset({"slow"}): "slow_walk",
    frozenset({"slow", "walk"}): "slow_walk",
    frozenset({"fast"}): "fast_walk",
    frozenset({"fast", "walk"}): "fast_walk",
    frozenset({"walk"}): "walk",
    frozenset({"run"}): "run",
}
_WORD = re.compile(r"[A-ZÄÖÜ]?[a-zäöüß]+|[A-ZÄÖÜ]+(?![a-zäöüß])")


@dataclass(frozen=True, slots=True)
class Recording:
    """What a name says; None where it does not.

    ``speed`` is ``slow_walk``, ``fast_walk`` or ``run`` (the paper's three), or ``walk`` where a name says walking
    and no pace. ``lighting`` is ``day`` or ``night``. ``route`` is the name's own code (``Traj02``): whether two
    participants' equal codes are one route, no name says.
    """

    participant: str | None = None
    speed: str | None = None
    lighting: str | None = None
    route: str | None = None


def read_recording_name(name: str) -> Recording:
    """Read a coded name (``P03_FastWalk_Night_Traj02_Trial01``) or the speed words of a free one.

    A free name (``Hohenheim_laufen_schnell``) gives a speed only; words that contradict each other give none.
    """
    coded = _CODED.fullmatch(name)
    if coded:
        return Recording(coded["participant"], _CODED_SPEEDS[coded["speed"]], coded["lighting"].lower(), coded["route"])
    words = {_WORDS[word.lower()] for word in _WORD.findall(name) if word.lower() in _WORDS}
    return Recording(speed=_SPEEDS.get(frozenset(words)))
