"""The benchmarks' facts as data; a test asserts them against the real annotations.

Every count names its source. Nothing else in the package repeats one of these figures.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """What identifies a benchmark and its dataset.

    ``hub_id`` and ``revision`` name the published dataset repository. Both stay None until a
    maintainer has published it: an unpinned dataset would let two papers score different questions.
    ``canary`` is a GUID that stands beside the questions wherever they are published, and nowhere else: a text or a
    model that knows it has seen them.
    ``version`` is that of the tasks, in every host: it rises when a question is shown otherwise than before.
    """

    name: str
    title: str
    paper: str
    annotation_licence: str
    data_variable: str
    canary: str
    version: int = 2
    hub_id: str | None = None
    revision: str | None = None

    def __post_init__(self) -> None:
        if (self.hub_id is None) != (self.revision is None):
            raise ValueError(f"{self.name}: hub_id and revision are set together or not at all")


@dataclass(frozen=True, slots=True, kw_only=True)
class EgoGears(Benchmark):
    """EgoGears, arXiv 2609.37938: counts of the published release (PROTOCOL 1, 1.1)."""

    frames_per_question: int = 64
    min_frames_per_clip: int = 4
    max_width_px: int = 480
    max_new_tokens: int = 2048
    max_new_tokens_reasoning: int = 16384
    max_new_tokens_cap: int = 32768
    rows: Mapping[str, int] = field(default_factory=lambda: {"single": 567, "multi": 1487})
    single_answer_counts: Mapping[int, int] = field(default_factory=lambda: {1: 325, 2: 84, 3: 107, 4: 46, 5: 5})
    single_unit: str = "60s_segment"
    one_recording_units: tuple[str, ...] = ("whole_video", "multi_caption_multi_clip")
    cross_recording_unit_counts: Mapping[str, int] = field(
        default_factory=lambda: {"anonymous_multi_clip": 270, "cross_video": 132, "cross_recording": 129}
    )
    # Of the seven published examples of the multi split; for estimates of cost alone.
    mean_clips: Mapping[str, float] = field(default_factory=lambda: {"single": 1.0, "multi": 2.4})
    multi_statuses: tuple[str, ...] = ("confirmed", "repaired", "rekeyed")
    min_options: int = 3
    max_options: int = 8

    @property
    def multi_units(self) -> tuple[str, ...]:
        """All units of the multi split: those of one recording, then those that span several."""
        return (*self.one_recording_units, *self.cross_recording_unit_counts)


EGOGEARS = EgoGears(
    name="egogears",
    title="EgoGears",
    paper="arXiv:2609.37938",
    annotation_licence="mit",
    data_variable="EGOGEARS_DATA",
    canary="cb7796ec-3797-4c26-9924-7ea2e0fae82e",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EgoTempo(Benchmark):
    """EgoTempo, CVPR 2025, arXiv 2503.13646: facts measured on the annotation file (PROTOCOL 2).

    The paper says 365 clips and 221 videos; the published file holds 367 and 222. ``content`` is
    `report.read.published_data.content_digest` of the published annotations, blanks at the ends of texts aside.
    """

    config: str = "default"
    rows: int = 500
    content: str = "32a1552b2b325e5e"
    clips: int = 367
    videos: int = 222
    rows_starting_below_zero: int = 18  # of 12 distinct clips
    rows_per_category: int = 50
    mean_clip_s: float = 45.8
    category_codes: Mapping[str, str] = field(
        default_factory=lambda: {
            "action sequence": "AS",
            "counting actions": "AC",
            "temporal event ordering": "TE",
            "future action prediction": "FU",
            "object-specific action": "OA",
            "object sequence": "OS",
            "counting objects": "OC",
            "spatial relationship": "SR",
            "locating object": "LO",
            "action-specific object": "AO",
        }
    )

    def part_of_categories(self, n_categories: int) -> str:
        """Return how many categories a mean is over, in words (``9 of 10 categories``); empty for all."""
        n_all = len(self.category_codes)
        return f"{n_categories} of {n_all} categories" if n_categories < n_all else ""


EGOTEMPO = EgoTempo(
    name="egotempo",
    title="EgoTempo",
    paper="arXiv:2503.13646",
    annotation_licence="cc-by-4.0",
    data_variable="EGOTEMPO_DATA",
    canary="84dd8c89-eb8d-4989-9a48-040113dc00a1",
)

BENCHMARKS: tuple[Benchmark, ...] = (EGOGEARS, EGOTEMPO)
