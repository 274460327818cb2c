"""The fine-grained question types of EgoGears' multi questions, by unit: facts of the release's own documentation.

29 in all, partitioned by unit. They only serve to point at a type that nobody has seen before.
"""

from collections.abc import Mapping
from types import MappingProxyType

_MULTI_CLIP = (
    "event-order",
    "turn-pattern-comparison",
    "route-phase-discrimination",
    "spatial-consistency",
    "landmark-cooccurrence",
    "environment-transition",
    "cross-segment-revisit",
)

MULTI_QUESTION_TYPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "whole_video": (
            "start-end-relation",
            "event-phase",
            "landmark-order",
            "environment-stages",
            "route-summary",
            "multi-step-turns",
            "landmark-revisit",
        ),
        "cross_video": (
            "unique-transient-obstacle",
            "landmark-visibility-comparison",
            "route-phase-alignment",
            "description-matching",
            "reverse-view-recognition",
            "different-start-shared-path",
            "route-divergence-location",
            "divergence-point",
            "landmark-order-discrimination",
            "route-retrieval",
            "same-route-identification",
        ),
        "multi_caption_multi_clip": _MULTI_CLIP,
        "anonymous_multi_clip": _MULTI_CLIP,
        "cross_recording": (
            "same-place-different-recording",
            "shared-landmark-identification",
            "route-identity-discrimination",
            "environment-difference-across-recordings",
        ),
    }
)
