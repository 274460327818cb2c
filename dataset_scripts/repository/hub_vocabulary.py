"""The words that the Hub knows in a dataset card's metadata (its documentation on dataset cards, November 2026)."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LICENCES = _words(
    """
    afl-3.0 agpl-3.0 apache-2.0 apple-amlr apple-ascl artistic-2.0 bigcode-openrail-m bigscience-bloom-rail-1.0
    bigscience-openrail-m bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 c-uda cc cc-by-2.0 cc-by-2.5
    cc-by-3.0 cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0
    cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0
    cdla-permissive-2.0 cdla-sharing-1.0 creativeml-openrail-m deepfloyd-if-license ecl-2.0 epl-1.0 epl-2.0
    etalab-2.0 eupl-1.1 eupl-1.2 fair-noncommercial-research-license gemma gfdl gpl gpl-2.0 gpl-3.0 grok2-community
    h-research intel-research isc lgpl lgpl-2.1 lgpl-3.0 lgpl-lr llama2 llama3 llama3.1 llama3.2 llama3.3 llama4
    lppl-1.3c mit mpl-2.0 ms-pl ncsa odbl odc-by ofl-1.1 openmdw-1.0 openmdw-1.1 openrail openrail++ osl-3.0 other
    pddl postgresql unknown unlicense wtfpl zlib
    """
)

TASK_CATEGORIES = _words(
    """
    any-to-any audio-classification audio-text-to-text audio-to-audio automatic-speech-recognition depth-estimation
    document-question-answering feature-extraction fill-mask graph-ml image-classification image-feature-extraction
    image-segmentation image-text-to-image image-text-to-text image-text-to-video image-to-3d image-to-image
    image-to-text image-to-video keypoint-detection mask-generation multiple-choice object-detection other
    question-answering reinforcement-learning robotics sentence-similarity summarization table-question-answering
    table-to-text tabular-classification tabular-regression tabular-to-text text-classification text-generation
    text-ranking text-retrieval text-to-3d text-to-audio text-to-image text-to-speech text-to-video
    time-series-forecasting token-classification translation unconditional-image-generation video-classification
    video-text-to-text video-to-video visual-document-retrieval visual-question-answering voice-activity-detection
    zero-shot-classification zero-shot-image-classification zero-shot-object-detection
    """
)

LANGUAGES = _words(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el
    en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu
    ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na
    nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so
    sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    """
)
"""ISO 639-1 codes."""

SIZE_CATEGORIES = {
    "n<1K": range(1_000),
    "1K<n<10K": range(1_000, 10_000),
    "10K<n<100K": range(10_000, 100_000),
    "100K<n<1M": range(100_000, 1_000_000),
    "1M<n<10M": range(1_000_000, 10_000_000),
}
"""Size category → the numbers of rows it stands for; the Hub knows larger ones, which no benchmark here reaches."""


def size_category(n_rows: int) -> str:
    """Return the category of a number of rows.

    Raises ``ValueError`` above ten million.
    """
    for name, numbers in SIZE_CATEGORIES.items():
        if n_rows in numbers:
            return name
    raise ValueError(f"{n_rows} rows: no size category is kept for so many")
