"""The clips that questions are drafted on: cut out of long videos by their narrations, or taken as they are."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

from dataset_scripts.egotempo.cut import cut_clip
from egobench_tasks.errors import InputError
from egobench_tasks.files import sha256_of
from egobench_tasks.frames.clip_file import open_container
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.making.draft.asking import DraftClip
from egobench_tasks.making.draft.narrations import Narration, PlannedClip, plan_clips

CLIPS_FOLDER = "clips"
_ENDINGS = (".mp4", ".mkv", ".webm", ".mov", ".avi")
_US_PER_S = 1_000_000


def draft_clips(
    videos: Path, out: Path, narrations: Mapping[str, Sequence[Narration]] | None
) -> tuple[list[DraftClip], list[str]]:
    """Return the clips of a folder of videos, made into ``out/clips``, and what could not be used, in words.

    With ``narrations`` videos are cut into the clips that follow from them; without, each video is a clip. A clip that
    was made before is not made again. Raises ``InputError`` where there is no video, or none of the narrated ones.
    """
    found = _videos(videos)
    planned = plan_clips({name: said for name, said in narrations.items() if name in found}) if narrations else None
    if narrations is not None and not planned:
        raise InputError(f"{videos}: holds none of the narrated videos ({', '.join(list(narrations)[:3])} …)")
    troubles: list[str] = []
    clips: list[DraftClip] = []
    folder = out / CLIPS_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    wanted = planned if planned is not None else [PlannedClip(name, 0.0, 0.0) for name in found]
    for plan in tqdm(wanted, desc="making clips", unit="clip"):
        try:
            clips.append(_made(plan, found[plan.video], folder))
        except ClipError as error:
            troubles.append(str(error))
    if not clips:
        raise InputError(f"{videos}: no clip could be made: {troubles[0]}")
    return clips, troubles


def _videos(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give one that holds videos")
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in _ENDINGS and path.is_file())
    if not paths:
        raise InputError(f"{folder}: holds no video ({', '.join(_ENDINGS)})")
    found: dict[str, Path] = {}
    for path in paths:
        if path.stem in found:
            raise InputError(f"{path}: {found[path.stem].name} has the same name but for its ending; rename one")
        found[path.stem] = path
    return found


def _made(plan: PlannedClip, video: Path, folder: Path) -> DraftClip:
    """Cut a clip, to the end of its video where the plan runs past it."""
    video_s = _duration_s(video)
    end_s = min(plan.end_s or video_s, video_s)
    if end_s <= plan.start_s:
        raise ClipError(str(video), f"ends at {video_s:.1f} s, before what is narrated at {plan.start_s:.1f} s")
    plan = PlannedClip(plan.video, plan.start_s, end_s, plan.narrations)
    path = folder / f"{plan.clip_id}.mp4"
    if not path.exists():
        cut_clip(video, plan.start_s, end_s, path)
    return DraftClip(str(path.resolve()), path.name, sha256_of(path), _duration_s(path), plan)


def _duration_s(path: Path) -> float:
    with open_container(str(path)) as container:
        if not container.duration:
            raise ClipError(str(path), "states no duration")
        return float(container.duration / _US_PER_S)
