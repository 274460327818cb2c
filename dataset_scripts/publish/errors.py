"""What the Hub refuses, as messages that say what to do."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

from egobench_tasks.errors import EgobenchError

_AGAIN = "what was sent is kept: run the same command again"
_ADVICE = {
    401: "the Hub does not know the token: run `hf auth login`, or set HF_TOKEN to a valid one",
    403: "the token may not write there: use one with write access to the organisation",
    404: "there is no such repository, or the token may not see it",
    409: f"another change came in between; {_AGAIN}",
    413: "the Hub takes no file that large",
    429: f"the Hub asks for fewer requests; wait a few minutes, {_AGAIN}",
}


@contextmanager
def hub_errors(repo_id: str) -> Iterator[None]:
    """Turn huggingface_hub's errors into ``EgobenchError``; the token is in none of them."""
    try:
        yield
    except HfHubHTTPError as problem:
        raise EgobenchError(f"{repo_id}: {_refusal(problem)}") from problem
    except OfflineModeIsEnabled as problem:
        raise EgobenchError(f"{repo_id}: HF_HUB_OFFLINE is set; unset it to publish") from problem
    except httpx.TransportError as problem:
        raise EgobenchError(f"{repo_id}: no connection to the Hub ({problem}); {_AGAIN}") from problem
    except RuntimeError as problem:  # an upload that failed in a thread
        cause = problem.__cause__
        reason = _refusal(cause) if isinstance(cause, HfHubHTTPError) else f"{cause or problem}; {_AGAIN}"
        raise EgobenchError(f"{repo_id}: {problem}: {reason}") from problem
    except ValueError as problem:  # what the Hub says of a card or a large file
        raise EgobenchError(f"{repo_id}: the Hub refuses the data: {problem}") from problem


def _refusal(problem: HfHubHTTPError) -> str:
    status = problem.response.status_code
    advice = _ADVICE.get(status) or (f"the Hub has a failure; later, {_AGAIN}" if status >= 500 else str(problem))
    message = f": {problem.server_message}" if problem.server_message else ""
    return f"the Hub answered {status}{message}\n{advice}"
