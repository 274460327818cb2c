"""EgoGears' ids for units and question types, in plain words. Pure.

Units are those of PROTOCOL 1.1. Types come from the release's own documentation, which names them and no more: the
words here say what the names say.
"""

from collections.abc import Mapping
from types import MappingProxyType

TERMS: Mapping[str, str] = MappingProxyType(
    {
        "60s_segment": "one minute of a recording",
        "whole_video": "a whole recording",
        "multi_caption_multi_clip": "several clips of one recording",
        "anonymous_multi_clip": "unnamed clips of several recordings",
        "cross_video": "videos of several recordings",
        "cross_recording": "recordings side by side",
        "spatial-temporal-reasoning": "where things are, and when",
        "visual-grounded-qa": "what is seen",
        "start-end-relation": "how start and end relate",
        "event-phase": "the phase of an event",
        "landmark-order": "the order of landmarks",
        "environment-stages": "the stages of the surroundings",
        "route-summary": "a summary of the route",
        "multi-step-turns": "turns in several steps",
        "landmark-revisit": "landmarks seen again",
        "unique-transient-obstacle": "an obstacle in one video alone",
        "landmark-visibility-comparison": "which video shows a landmark",
        "route-phase-alignment": "phases of a route matched",
        "description-matching": "descriptions matched to videos",
        "reverse-view-recognition": "a place seen the other way",
        "different-start-shared-path": "other starts, one path",
        "route-divergence-location": "where routes part",
        "divergence-point": "the point where paths part",
        "landmark-order-discrimination": "orders of landmarks told apart",
        "route-retrieval": "a route found again",
        "same-route-identification": "the same route identified",
        "event-order": "the order of events",
        "turn-pattern-comparison": "patterns of turns compared",
        "route-phase-discrimination": "phases of a route told apart",
        "spatial-consistency": "what fits together in space",
        "landmark-cooccurrence": "landmarks seen together",
        "environment-transition": "changes of the surroundings",
        "cross-segment-revisit": "places seen again in another segment",
        "same-place-different-recording": "one place in several recordings",
        "shared-landmark-identification": "landmarks that recordings share",
        "route-identity-discrimination": "routes told apart",
        "environment-difference-across-recordings": "how surroundings differ between recordings",
    }
)
"""Units first, then types, each with the words for it."""


def in_words(term: str) -> str:
    """Return the words for an id with the id beside them; an id without words as it is.

    >>> in_words("whole_video"), in_words("a kind of next year")
    ('a whole recording (whole_video)', 'a kind of next year')
    """
    words = TERMS.get(term)
    return term if words is None else f"{words} ({term})"
