"""What surrounds a run: this package, its libraries, the machine, the settings in the environment."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from egobench_tasks import __version__
from egobench_tasks.extras import DISTRIBUTION
from egobench_tasks.runs.record import Machine, Package

LIBRARIES = (
    "accelerate", "av", "datasets", "huggingface_hub", "inspect-ai", "lighteval", "numpy", "openai", "pillow",
    "tokenizers", "torch", "torchvision", "transformers",
)  # fmt: skip
"""Those that shape what a model sees, says, or scores."""
_OUR_VARIABLES = ("EGOGEARS_DATA", "EGOTEMPO_DATA")
_OUR_PREFIX = "EGOBENCH_"
_SECRET = "_API_KEY"


def library_versions(names: Iterable[str] = LIBRARIES) -> dict[str, str]:
    """Return the versions of the installed ones among some distributions, by name."""
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def this_package() -> Package:
    """Return this package's version and commit."""
    root = Path(__file__).parents[2]
    if (root / ".git").exists():
        commit = _git(root, "rev-parse", "HEAD")
        return Package(version=__version__, commit=commit, modified=bool(_git(root, "status", "--porcelain")))
    return Package(version=__version__, commit=_installed_commit(), modified=False)


def this_machine(gpus: Iterable[str] = (), n_processes: int = 1) -> Machine:
    """Return this machine; ``gpus`` and ``n_processes`` are for the caller to know, who has torch."""
    return Machine(
        host=platform.node(),
        system=platform.platform(),
        python=platform.python_version(),
        n_cpus=os.cpu_count() or 1,
        gpus=tuple(gpus),
        n_processes=n_processes,
    )


def this_command() -> tuple[str, ...]:
    """Return the command line that this process is, a program by its name alone."""
    program = Path(sys.argv[0]).name
    return ("egobench" if program == "cli.py" else program, *sys.argv[1:])


def our_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return egobench's own variables that are set, by name; never one that holds a key."""
    return {
        name: value
        for name, value in sorted(environ.items())
        if value and (name in _OUR_VARIABLES or name.startswith(_OUR_PREFIX)) and not name.endswith(_SECRET)
    }


def _git(root: Path, *arguments: str) -> str | None:
    """What git says, None where there is no git or it does not like this folder."""
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _installed_commit() -> str | None:
    """The commit that pip installed from, as ``pip install git+…`` notes it."""
    try:
        noted = metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
        commit = json.loads(noted or "{}").get("vcs_info", {}).get("commit_id")
    except (metadata.PackageNotFoundError, ValueError, AttributeError):
        return None
    return str(commit) if commit else None
