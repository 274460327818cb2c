"""Writing a raw release's files: JSON, JSON lines, and clips that are linked rather than copied."""

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write one JSON object."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def link_files(source: Path, target: Path, names: Iterable[Path]) -> None:
    """Link files of one folder into another under the same names; a name that is no file there is passed over."""
    for name in names:
        if (source / name).is_file():
            link_file(source / name, target / name)


def link_file(source: Path, target: Path) -> None:
    """Hard-link a file, or copy it where that cannot be done. One that is there already stays."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source.resolve(), target)
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(source, target)
