"""``egobench check``: every fault of a dataset folder that loading, the Hub or a reader would stumble over."""

from dataclasses import replace
from pathlib import Path

from dataset_scripts.check.card import card_findings
from dataset_scripts.check.clips import clip_findings
from dataset_scripts.check.files import file_findings
from dataset_scripts.check.finding import Finding, in_order
from dataset_scripts.check.input import read_dataset_folder
from dataset_scripts.check.rows import row_findings, schema_findings
from egobench_tasks.errors import InputError


def check_folder(folder: Path) -> list[Finding]:
    """Return every fault found in a dataset folder, errors first; nothing for a sound one.

    Every clip is hashed and its first frame decoded (`clips.check_clip`). Raises ``InputError`` where there is no
    such folder.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give one made by `egobench build` or `egobench sample`")
    dataset, findings = read_dataset_folder(folder)
    findings += [*schema_findings(dataset), *card_findings(dataset)]
    wrong = {finding.where for finding in findings if finding.rule == "schema"}
    sound = replace(dataset, tables=[table for table in dataset.tables if table.path not in wrong])
    for rules in (file_findings, row_findings, clip_findings):
        findings += rules(sound)  # these read columns
    return in_order(findings)
