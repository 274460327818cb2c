"""``egobench publish``: a checked dataset folder becomes a tagged Hub repository, compared and loaded afterwards."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path
from typing import Literal

from huggingface_hub import HfApi, get_token
from huggingface_hub.errors import HFValidationError
from huggingface_hub.hf_api import RepoFile

from dataset_scripts.check.card import config_names, read_card_data
from dataset_scripts.check.finding import as_lines, errors_of
from dataset_scripts.check.folder import check_folder
from dataset_scripts.check.input import CLIPS_FOLDER
from dataset_scripts.publish.errors import hub_errors
from dataset_scripts.publish.load import check_that_it_loads
from dataset_scripts.repository.build_report import DRAFT
from dataset_scripts.repository.videofolder import REPORT_NAME
from egobench_tasks.documents import read_json
from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.files import sha256_of

Gated = Literal["auto", "manual"]

_HIDDEN = [".*", "*/.*"]
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Published:
    """What stands on the Hub: the commit's sha, its tag if any, and how much it holds.

    ``revision`` is None after a dry run, which sends nothing.
    """

    repo_id: str
    revision: str | None
    tag: str | None
    n_files: int
    n_bytes: int

    def __str__(self) -> str:
        size = f"{self.n_files} files, {self.n_bytes / 1e6:.1f} MB"
        if self.revision is None:
            return f"would publish {size} as {self.repo_id}"
        return f"{self.repo_id}@{self.tag or self.revision} holds {size}; commit {self.revision}"


def publish(
    folder: Path,
    repo_id: str,
    *,
    private: bool = False,
    gated: Gated | None = None,
    tag: str | None = None,
    dry_run: bool = False,
    may_share_ego4d_clips: bool = False,
) -> Published:
    """Publish a dataset folder as ``repo_id`` (``ORG/NAME``).

    The folder is checked first; then the repository is made, files are sent, the commit is tagged, every file there is
    compared with the one here by size and hash, and a row of each config is loaded. After an interruption the same call
    sends only what is missing. The token comes from where huggingface_hub looks for it (``HF_TOKEN``, ``hf auth
    login``). Hidden files stay here.

    Raises ``InputError`` for a folder with errors, drafts, a tag that stands on other data, EgoTempo clips without
    leave; and ``EgobenchError`` for what the Hub refuses, and for a repository that is not what was sent.
    """
    findings = check_folder(folder)
    if errors_of(findings):
        raise InputError(f"{folder}: not published, it has faults:\n{as_lines(findings)}")
    _refuse_drafts(folder)
    card = read_card_data(folder)
    files = files_to_publish(folder)
    _refuse_clips_that_may_not_be_shared(card, files, private=private, allowed=may_share_ego4d_clips)
    n_bytes = sum(path.stat().st_size for path in files.values())
    if dry_run:
        return Published(repo_id, None, tag, len(files), n_bytes)
    if get_token() is None:
        raise InputError("no Hub token: run `hf auth login`, or set HF_TOKEN to one that may write")
    api = HfApi()
    with hub_errors(repo_id):
        _make_repository(api, repo_id, private=private, gated=gated)
        revision = _tagged(api, repo_id, tag, files) or _upload(api, repo_id, folder, tag, files)
        check_that_it_loads(repo_id, revision, folder, config_names(card))
    return Published(repo_id, revision, tag, len(files), n_bytes)


def _refuse_drafts(folder: Path) -> None:
    """A question that a model proposed is published once a person has confirmed it."""
    report = read_json(folder / REPORT_NAME, "what the builder found")
    if n_drafts := sum(warning["kind"] == DRAFT for warning in report["warnings"]):
        which = "1 question is a draft" if n_drafts == 1 else f"{n_drafts} questions are drafts"
        raise InputError(
            f"{folder}: {which} that no person has confirmed. `egobench review`, `egobench review apply`, then build "
            "anew"
        )


def files_to_publish(folder: Path) -> dict[str, Path]:
    """Return the folder's files by their path in the repository; hidden ones are left out."""
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: path for name, path in paths.items() if not any(part.startswith(".") for part in name.split("/"))}


def _refuse_clips_that_may_not_be_shared(
    card: Mapping[str, object], files: Mapping[str, Path], *, private: bool, allowed: bool
) -> None:
    """EgoTempo's clips are Ego4D's, whose licence forbids passing them on (PROTOCOL 2)."""
    ours = card.get("egobench")
    has_clips = any(f"/{CLIPS_FOLDER}/" in name for name in files)
    if not has_clips or not isinstance(ours, Mapping) or ours.get("clips_may_be_shared") is not False:
        return
    if not (allowed and private):
        raise InputError(
            "this dataset holds Ego4D clips, which its licence forbids passing on. Publish the annotations alone "
            "(build without --videos), or, if you may share the clips, give --i-may-share-ego4d-clips and --private"
        )


def _make_repository(api: HfApi, repo_id: str, *, private: bool, gated: Gated | None) -> None:
    try:
        api.create_repo(repo_id, repo_type="dataset", private=private or None, exist_ok=True)
    except HFValidationError as problem:
        raise InputError(f"{repo_id!r} is no repository id: give ORG/NAME") from problem
    if private and not api.dataset_info(repo_id).private:
        raise InputError(f"{repo_id} is public already; make it private in its settings, or choose another name")
    if gated:
        api.update_repo_settings(repo_id, repo_type="dataset", gated=gated)


def _tagged(api: HfApi, repo_id: str, tag: str | None, files: Mapping[str, Path]) -> str | None:
    """Return the commit that an existing tag names, None without one. A tag never moves: papers cite it."""
    tags = {ref.name: ref.target_commit for ref in api.list_repo_refs(repo_id, repo_type="dataset").tags}
    if tag is None or tag not in tags:
        return None
    differences = list(_differences(api, repo_id, tags[tag], files))
    if differences:
        raise InputError(
            f"{repo_id}: tag {tag} stands on other data ({differences[0]}); a tag does not move, choose another"
        )
    return tags[tag]


def _upload(api: HfApi, repo_id: str, folder: Path, tag: str | None, files: Mapping[str, Path]) -> str:
    """Send what is missing, remove what is not here, compare, tag; return the commit's sha."""
    api.upload_folder(
        repo_id=repo_id,
        repo_type="dataset",
        folder_path=folder,
        ignore_patterns=_HIDDEN,
        delete_patterns="*",
        commit_message=f"Publish {tag}" if tag else "Publish",
    )
    revision = api.dataset_info(repo_id).sha
    assert revision is not None  # the Hub always names it
    differences = list(_differences(api, repo_id, revision, files))
    if differences:
        shown = "\n".join(f"  {line}" for line in differences[:_SHOWN])
        raise EgobenchError(
            f"{repo_id}: {len(differences)} files are not what was sent, nothing was tagged; run the same command "
            f"again:\n{shown}"
        )
    if tag:
        api.create_tag(repo_id, tag=tag, revision=revision, repo_type="dataset")
    return revision


def _differences(api: HfApi, repo_id: str, revision: str, files: Mapping[str, Path]) -> Iterator[str]:
    """Compare a commit's files with ours, by size and hash; yield a line for each that differs."""
    listed = api.list_repo_tree(repo_id, repo_type="dataset", revision=revision, recursive=True)
    there = {entry.path: entry for entry in listed if isinstance(entry, RepoFile)}
    for name, path in files.items():
        if name not in there:
            yield f"{name} is not there"
        elif there[name].size != path.stat().st_size:
            yield f"{name} has {there[name].size} bytes there, {path.stat().st_size} here"
        elif not _same_content(there[name], path):
            yield f"{name} has other content there"
    for name in sorted(set(there) - set(files)):
        if not name.startswith("."):  # .gitattributes is the Hub's own
            yield f"{name} is there and not here"


def _same_content(entry: RepoFile, path: Path) -> bool:
    """Compare with the SHA-256 that the Hub keeps for large files, or with git's hash of small ones."""
    if entry.lfs is not None:
        return entry.lfs.sha256 == sha256_of(path)
    data = path.read_bytes()
    return entry.blob_id == sha1(b"blob %d\0" % len(data) + data).hexdigest()
