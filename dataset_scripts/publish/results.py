"""``egobench results --push``: a run's scores are offered to a model's repository as a pull request."""

from collections.abc import Mapping

from huggingface_hub import CommitOperationAdd, HfApi, get_token
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # documented, not exported

from dataset_scripts.publish.errors import hub_errors
from egobench_tasks.errors import EgobenchError, InputError

_TITLE = "Add evaluation results"


def open_pull_request(files: Mapping[str, str], repo_id: str, *, description: str) -> str:
    """Open a pull request that adds ``files`` (path in the repository → text) to a model's repository; return its URL.

    Nothing of the repository changes before its owner merges it. Raises ``InputError`` without a token or with an id
    that is none, ``EgobenchError`` for what the Hub refuses.
    """
    if not get_token():
        raise InputError("no token: run `hf auth login`, or set HF_TOKEN")
    try:
        validate_repo_id(repo_id)
    except HFValidationError as problem:
        raise InputError(f"--push: {problem}") from problem
    operations = [
        CommitOperationAdd(path_in_repo=path, path_or_fileobj=text.encode()) for path, text in sorted(files.items())
    ]
    with hub_errors(repo_id):
        commit = HfApi().create_commit(
            repo_id,
            operations,
            commit_message=_TITLE,
            commit_description=description,
            repo_type="model",
            create_pr=True,
        )
    if commit.pr_url is None:
        raise EgobenchError(f"{repo_id}: the Hub took the files and named no pull request; look at {commit.commit_url}")
    return str(commit.pr_url)
