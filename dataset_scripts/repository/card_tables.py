"""Markdown tables of a dataset card, made from what was built."""

from collections.abc import Iterable, Mapping

import pyarrow as pa

from dataset_scripts.repository.build_report import ConfigSummary

_VIDEO_COLUMNS = {"file_name": ("video", "Video"), "file_names": ("videos", "list of Video")}
_SHOWN_VALUES = 12


def contents_table(summaries: Iterable[ConfigSummary]) -> str:
    """Return a line a config: questions, distinct clips, their size and length."""
    lines = ["| config | split | questions | clips | MB | hours |", "|---|---|---|---|---|---|"]
    lines += [
        f"| `{one.name}` | test | {one.rows} | {one.clips} | {one.clip_bytes / 1e6:.1f} | {one.clip_s / 3600:.2f} |"
        for one in summaries
    ]
    return "\n".join(lines)


def statistics_table(summaries: Iterable[ConfigSummary]) -> str:
    """Return a line for every count of every config; long ones are cut after their commonest values."""
    lines = ["| config | of | questions |", "|---|---|---|"]
    for one in summaries:
        for name, counts in one.counts.items():
            lines.append(f"| `{one.name}` | {name.replace('_', ' ')} | {_counts(counts)} |")
    return "\n".join(lines)


def _counts(counts: Mapping[str, int]) -> str:
    shown = list(counts.items())
    if len(shown) > _SHOWN_VALUES:
        shown = sorted(shown, key=lambda item: (-item[1], item[0]))[:_SHOWN_VALUES]
    more = len(counts) - len(shown)
    text = ", ".join(f"{value}: {rows}" for value, rows in shown)
    return f"{text}, and {more} rarer ones" if more else text


def features_table(schemas: Mapping[str, pa.Schema]) -> str:
    """Return a line a column: its name and type as ``datasets`` loads it, and the configs that have it."""
    lines = ["| column | type | in |", "|---|---|---|"]
    columns: dict[tuple[str, str], list[str]] = {}
    for config, schema in schemas.items():
        for field in schema:
            columns.setdefault(_column(field), []).append(f"`{config}`")
    lines += [f"| `{name}` | {kind} | {', '.join(configs)} |" for (name, kind), configs in columns.items()]
    return "\n".join(lines)


def _column(field: pa.Field) -> tuple[str, str]:
    return _VIDEO_COLUMNS.get(field.name, (field.name, _type_name(field.type)))


def _type_name(kind: pa.DataType) -> str:
    """Return the type's name; ``double`` reads float64, which is what the columns are made from."""
    if pa.types.is_list(kind):
        return f"list of {_type_name(kind.value_type)}"
    if pa.types.is_struct(kind):
        return f"{{{', '.join(f'{field.name}: {_type_name(field.type)}' for field in kind)}}}"
    return "float64" if pa.types.is_float64(kind) else str(kind)
