"""Where the dataset card templates lie."""

from pathlib import Path


def card_template(name: str) -> Path:
    """Return the path of a template of the root folder ``cards/``, e.g. ``"egogears.md"``.

    A wheel carries the folder inside this package; a checkout has it at the root.
    """
    package = Path(__file__).parent.parent
    installed = package / "card_templates" / name
    return installed if installed.is_file() else package.parent / "cards" / name
