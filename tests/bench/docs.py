"""What a split of published size costs before the first answer: making all Docs, and saving their details.

    python tests/bench/docs.py

Builds 1,487 multi-clip questions over 24 shared clips in a temporary folder with the ordinary builder, then measures
in a process of its own, against lighteval's own import: seconds and memory to load the split and make every Doc,
bytes of saved details a question, and what decoded frames would take in their place.
"""

import dataclasses
import io
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

N_QUESTIONS = 1487
N_CLIPS = 24
FRAME_BYTES = 480 * 270 * 3


def main() -> None:
    """Build the split, measure in a fresh process, print."""
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
        return
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}, "
        f"Python {platform.python_version()}"
    )
    with tempfile.TemporaryDirectory() as folder:
        dataset = build(Path(folder))
        environment = {**os.environ, "HF_HOME": f"{folder}/hf", "HF_HUB_OFFLINE": "1", "EGOGEARS_DATA": str(dataset)}
        subprocess.run([sys.executable, __file__, str(dataset)], env=environment, check=True)


def build(folder: Path) -> Path:
    """Write a raw release whose questions share clips, and build it."""
    from dataset_scripts.egogears.build import build_egogears

    rng = random.Random(0)
    clips = [write_clip(folder / f"clip{index}.mp4", duration_s=10 + 2 * index) for index in range(N_CLIPS)]
    questions = folder / "raw" / "v2" / "runningbench_v2_kept.jsonl"
    questions.parent.mkdir(parents=True)
    with questions.open("w") as file:
        for number in range(N_QUESTIONS):
            review_id = f"{number:016x}"
            media = folder / "raw" / "annotation_bundles" / "bundle_01" / "media" / review_id
            media.mkdir(parents=True)
            entries = []
            for position in range(rng.randint(1, 8)):
                name = f"CLIP_{position + 1}_0_60.mp4"
                os.link(rng.choice(clips), media / name)
                entries.append({"label": f"CLIP_{position + 1}", "path": f"media/{review_id}/{name}"})
            file.write(json.dumps(row(review_id, entries, rng)) + "\n")
    out = folder / "egogears"
    build_egogears(folder / "raw", out, only="multi")
    return out


def row(review_id: str, clips: list[dict], rng: random.Random) -> dict:
    """One annotation of upstream's form, its texts as long as the published ones are."""
    letters = "ABCDEFGH"[: rng.randint(3, 8)]
    answer = sorted(rng.sample(letters, rng.randint(1, min(5, len(letters) - 1))))
    return {
        "review_id": review_id,
        "bundle": "bundle_01",
        "source": "excerpt",
        "unit": "anonymous_multi_clip",
        "question_type": "landmark-order",
        "n_select": len(answer),
        "question": f"Question {review_id}: " + "which of these statements holds for the footage, " * 5,
        "options": {
            letter: f"Statement {letter} of {review_id}: " + "a landmark is passed on the left, " * 5
            for letter in letters
        },
        "clips": clips,
        "answer": answer,
        "status": "confirmed",
        "decision": "KEEP_CONFIRMED",
        "reasons": [],
        "blind_guessable": False,
        "evidence": {},
    }


def write_clip(path: Path, duration_s: int) -> Path:
    """A small grey clip, one frame a second."""
    import av
    import numpy as np

    with av.open(path, "w") as container:
        stream = container.add_stream("libx264", rate=1)
        stream.width, stream.height, stream.pix_fmt = 64, 36, "yuv420p"
        for second in range(duration_s):
            frame = av.VideoFrame.from_ndarray(np.full((36, 64, 3), (second * 7) % 256, np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def measure(dataset: Path) -> None:
    """Load, make the Docs, save the details; print what each took."""
    import pyarrow.parquet as pq
    from datasets import Dataset
    from lighteval.logging.info_loggers import DetailsLogger
    from lighteval.tasks.lighteval_task import LightevalTask

    from egobench_tasks.hosts.lighteval.generation import Generation

    before_mb, start_s, start_cpu_s = peak_mb(), time.perf_counter(), time.process_time()
    from egobench_tasks.tasks import TASKS_TABLE

    config = next(config for config in TASKS_TABLE if config.name == "egogears:multi")
    task = LightevalTask(config)
    LightevalTask.load_datasets({"egogears:multi": task})
    docs = task.get_docs()
    print(
        f"{len(docs)} Docs in {time.perf_counter() - start_s:.2f} s "
        f"({time.process_time() - start_cpu_s:.2f} s of CPU), "
        f"{peak_mb() - before_mb:.0f} MB beyond lighteval's import "
        f"(decoded at 480x270 their frames would take {len(docs) * 64 * FRAME_BYTES / 1e9:.1f} GB)"
    )
    response = Generation(input=docs[0].query, text=['{"answer": ["A"]}'])
    metric = config.metrics[0].compute_sample(doc=docs[0], model_response=response)
    details = [dataclasses.asdict(DetailsLogger.Detail(doc, response, metric)) for doc in docs]
    buffer = io.BytesIO()
    table = Dataset.from_list(details).data.table
    pq.write_table(table, buffer)
    print(
        f"details: {buffer.tell() / len(docs):.0f} bytes a question on disk, {table.nbytes / len(docs):.0f} in memory"
    )


def peak_mb() -> float:
    """The most memory this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
