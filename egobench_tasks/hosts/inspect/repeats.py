"""Questions that are asked several times: Inspect's epochs, of which the first one scores."""

from inspect_ai.scorer import Score, ScoreReducer, score_reducer


@score_reducer(name="first_answer")
def first_answer() -> ScoreReducer:
    """Let a question's score be that of its first answer; the others stand in the log, for `egobench report`."""

    def reduce(scores: list[Score]) -> Score:
        return scores[0]  # in the order of the epochs

    return reduce
