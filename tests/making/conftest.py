"""Pages are driven by `driving`; runs of models come from `planted` and `sample_runs`."""

import sys
from pathlib import Path

_HERE = Path(__file__).parent
sys.path[:0] = [str(_HERE), str(_HERE.parent / "report"), str(_HERE.parent / "browse")]
