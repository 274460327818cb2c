"""A table as LaTeX for a paper, in booktabs' style: the columns that a page shows first."""

from collections.abc import Sequence

from egobench_tasks.report.analyse.tables import Cell, Column, Kind, Table, cells

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": r"$-$",
    "–": r"--",
    "…": r"\ldots{}",
    "◊": r"$\diamond$",
    "●": r"$\bullet$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
}
_TYPESET = frozenset(
    {chr(code) for code in range(ord(" "), 0x7F)}
    | {chr(code) for code in range(0xA0, 0x180)} - set("ĦħĸĿŀŉŦŧſ")
    | set("‐‑‒—‘’‚“”„†‡•‰‹›€™←↑→↓")
)
"""What pdfLaTeX sets in T1 with the kernel alone (its t1enc.dfu, ts1enc.dfu and omsenc.dfu)."""
_MAX_IDS = 10


def render_latex(table: Table) -> str:
    """Return a ``table`` environment, with the table's note in comments above it.

    Needs the packages booktabs, and fontenc with T1. Names are escaped; a cell's interval stands after its value,
    small.
    """
    shown = [(place, column) for place, column in enumerate(table.columns) if not column.aside]
    align = "".join("l" if column.kind.is_text else "r" for _, column in shown)
    head = " & ".join(_guarded(escape(column.title)) for _, column in shown)
    body = [" & ".join(_cell(column, row[place]) for place, column in shown) for row in cells(table)]
    lines = [
        *(f"% {line}" for line in " ".join(table.note.split()).split(". ") if line),
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(table.title)}}}",
        rf"\label{{tab:{table.key.replace('_', '-')}}}",
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        rf"{head} \\",
        r"\midrule",
        *(rf"{row} \\" for row in body),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Keep every character from being read as LaTeX, and a cell on one line.

    One that pdfLaTeX cannot set, of another script for example, is named by its code: it would end the paper's run.

    >>> print(escape("50 % of a_b & {c}"))
    50 \\% of a\\_b \\& \\{c\\}
    >>> print(escape("Qwen-千"))
    Qwen-U+5343
    """
    return "".join(map(_escaped, " ".join(text.split())))


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character in _TYPESET else f"U+{ord(character):04X}"


def _cell(column: Column, cell: Cell) -> str:
    if column.kind is Kind.QUESTIONS:
        return escape(_some(cell.text.split(" ")))
    text = _guarded(escape(cell.text))
    return text if cell.interval is None else rf"{text} {{\scriptsize ({escape(cell.interval)})}}"


def _guarded(text: str) -> str:
    """A cell that opens with a bracket or a star would be read as an option of the rule or the line end before it."""
    return f"{{}}{text}" if text.startswith(("[", "*")) else text


def _some(ids: Sequence[str]) -> str:
    return " ".join(ids[:_MAX_IDS]) + (" …" if len(ids) > _MAX_IDS else "")
