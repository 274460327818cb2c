"""Commands that draft questions and pick among them."""

from pathlib import Path
from typing import Annotated

import typer

from egobench_tasks.errors import InputError
from egobench_tasks.stopping import ending_on_sigterm

app = typer.Typer()


@app.command()
@ending_on_sigterm()
def draft(
    clips: Annotated[Path, typer.Option(metavar="FOLDER", help="Videos; each is a clip, or is cut by its narrations.")],
    model: Annotated[Path, typer.Option(metavar="CONFIG.yaml", help="The settings of the endpoint that drafts.")],
    kinds: Annotated[
        str, typer.Option(help="EgoTempo's codes (AS, AC, …) for open questions; direction, order, phase, subject.")
    ],
    out: Annotated[Path, typer.Option(help="The folder to write into; the same one goes on.")] = Path("draft"),
    narrations: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Ego4D's narration.json, or JSON lines of video, time_s, text.")
    ] = None,
    per_clip: Annotated[int, typer.Option(min=1, max=20, help="Questions of each kind on each clip.")] = 1,
    wording: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="Words of your own for what is asked.")
    ] = None,
    retries: Annotated[int, typer.Option(min=0, help="How often a reply of another form is asked for again.")] = 3,
) -> None:
    """Let a model propose questions on clips: candidates, for `audit`, `review` and `build`. None is confirmed."""
    from dataset_scripts.drafts.clips import draft_clips
    from dataset_scripts.drafts.release import write_release
    from egobench_tasks.files import check_output_folder
    from egobench_tasks.hosts.endpoint.settings import load_endpoint_settings
    from egobench_tasks.making.draft.asking import draft_questions
    from egobench_tasks.making.draft.narrations import read_narrations
    from egobench_tasks.making.draft.wording import OWN_FILE, read_wording

    chosen = _kinds(kinds)
    words = read_wording(wording or OWN_FILE)
    settings = load_endpoint_settings(model)
    settings.api_key()
    narrated = read_narrations(narrations) if narrations else None
    check_output_folder(out)
    made, troubles = draft_clips(clips, out, narrated)
    drafted = draft_questions(made, settings, chosen, words, per_clip=per_clip, retries=retries)
    for trouble in [*troubles, *(f"{what}: {why}" for what, why in drafted.failures.items())]:
        print(trouble)
    if not drafted.candidates:
        raise InputError("no question came of it; see above")
    commands = write_release(drafted.candidates, out / "clips", out)
    print(
        f"{len(drafted.candidates)} questions on {len(made)} clips; {drafted.n_asked_again} replies were asked for "
        f"again, {len(drafted.failures)} gave nothing. All are drafts: next"
    )
    print(*commands, sep="\n")
    print("then egobench audit and egobench review")


@app.command("sample-quota")
def sample_quota(
    drafted: Annotated[Path, typer.Argument(metavar="DRAFT", help="A folder that `egobench draft` made.")],
    per_kind: Annotated[int, typer.Option(min=1, help="How many of each kind.")],
    out: Annotated[Path, typer.Option(help="The folder to write the picked ones into.")] = Path("picked"),
    cap: Annotated[int, typer.Option(min=1, help="At most so many of one recording.")] = 15,
    seed: Annotated[int, typer.Option(help="Another seed, another pick.")] = 0,
) -> None:
    """Pick candidates by kind, with a cap on each recording; the same seed picks the same ones."""
    from collections import Counter

    from dataset_scripts.drafts.clips import CLIPS_FOLDER
    from dataset_scripts.drafts.release import write_release
    from egobench_tasks.making.draft.candidate import CANDIDATES_FILE, read_candidates
    from egobench_tasks.making.draft.quota import pick

    if out.resolve() == drafted.resolve() or (out / CANDIDATES_FILE).exists():
        raise InputError(f"{out}: holds candidates already; name another folder")
    candidates = read_candidates(drafted / CANDIDATES_FILE)
    picked = pick(candidates, per_kind, cap=cap, seed=seed)
    there, taken = (Counter(one.kind for one in some) for some in (candidates, picked))
    for kind in there:
        short = "" if taken[kind] == per_kind else f": fewer than {per_kind}"
        print(f"{kind}: {taken[kind]} of {there[kind]}{short}")
    print(*write_release(picked, drafted / CLIPS_FOLDER, out), sep="\n")


def _kinds(text: str) -> list[str]:
    from egobench_tasks.making.draft.candidate import CHOICE_KINDS, OPEN_KINDS

    known = {name.lower(): name for name in (*OPEN_KINDS, *CHOICE_KINDS)}
    named = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in named if name.lower() not in known]:
        raise InputError(f"--kinds: unknown {', '.join(unknown)}; known are {', '.join(known.values())}")
    if not named:
        raise InputError(f"--kinds names none; known are {', '.join(known.values())}")
    return list(dict.fromkeys(known[name.lower()] for name in named))
