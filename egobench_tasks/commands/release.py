"""A dataset as the making commands take it: built, on the Hub, or EgoGears' raw release."""

import hashlib
import sys
from pathlib import Path

from egobench_tasks.cache import cache_dir, own_layer
from egobench_tasks.data import DatasetLocation, parse_location
from egobench_tasks.locks import exclusive

DATASET_OR_RELEASE = "A dataset folder, ORG/NAME[@REVISION] on the Hub, or EgoGears' raw release."


def dataset_or_release(value: str) -> DatasetLocation:
    """Read DATASET; a folder laid out as EgoGears' raw release is built first, by `egobench build`'s own code.

    The build lies in the cache, under the release's path; its clips are hard links where the file system allows.
    Raises ``InputError`` for what is neither, and for a release that cannot be built.
    """
    from dataset_scripts.egogears.release import splits_in

    splits = splits_in(Path(value))
    if not splits:
        return parse_location(value, where="DATASET")
    from dataset_scripts.egogears.build import build_egogears

    source = Path(value).resolve()
    key = hashlib.sha256(f"{source}\n{'+'.join(splits)}".encode()).hexdigest()[:16]
    out = own_layer(cache_dir() / "releases") / key / "egogears"
    print(f"{value}: a raw release; its rows are made in {out}", file=sys.stderr)
    out.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(out.parent / "lock"):  # reviewers may start together
        build_egogears(source, out, only=splits[0] if len(splits) == 1 else None)
    return parse_location(str(out), where="DATASET")
