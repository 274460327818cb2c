"""Docs of the sample benchmark, the tiny model as our lighteval class, and real command lines."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def docs_of(sample_folder):
    """``docs_of("multi")``: fresh Docs of the sample, as lighteval makes them."""
    from lighteval.tasks.lighteval_task import LightevalTask

    from egobench_tasks.tasks import TASKS_TABLE

    def make(config):
        task = LightevalTask(next(task for task in TASKS_TABLE if task.name == f"egogears:{config}"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EGOGEARS_DATA", str(sample_folder / "egogears"))
            LightevalTask.load_datasets({task.name: task})
        return task.get_docs()

    return make


@pytest.fixture
def vlm(tiny_llava, tmp_path, monkeypatch):
    """``vlm(batch_size=2, …)``: our lighteval model over the tiny LLaVA, with a journal of its own."""
    from lighteval.models.transformers.vlm_transformers_model import VLMTransformersModelConfig

    from egobench_tasks.hosts.lighteval_vlm import FrameVLM

    monkeypatch.setenv("EGOBENCH_JOURNAL", str(tmp_path / "journal"))

    def make(**arguments):
        settings = {"model_name": str(tiny_llava), "generation_size": 8, "cache_dir": str(tmp_path / "lighteval")}
        return FrameVLM(VLMTransformersModelConfig(**{**settings, **arguments}))

    return make


@pytest.fixture
def run_program(tmp_path):
    """``run_program("lighteval", …, cwd=…, **environment)``: a program of this environment, as a user runs it."""

    def run(program, *arguments, cwd=tmp_path, check=True, **environment):
        command = [str(Path(sys.executable).parent / program), *map(str, arguments)]
        settings = {"EGOBENCH_JOURNAL": str(tmp_path / "journal"), "COLUMNS": "200", **environment}
        done = subprocess.run(
            command, cwd=cwd, env={**os.environ, **settings}, capture_output=True, text=True, timeout=600, check=False
        )
        if check and done.returncode:
            pytest.fail(f"{command} ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
        return done

    return run
