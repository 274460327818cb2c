"""Do 95 % intervals hold the truth in 93 to 97 of 100 draws, do tests keep 5 %, does power come as computed?

    python tests/bench/coverage.py [--simulations 1000] [--seed 1]

Draws runs with known truth: questions alone, in clusters of eight, and in clusters of uneven size; rates from 5 to
60 %; correlations within clusters from 0 to 0.3. Prints a line each, and at the end what lies outside: on
which side the truth was missed, how often all answers were alike, and how often the estimate said that events are few.

Where the interval never lies under the truth (0.0 %) coverage is what the other side leaves, 97.5 % as a rule. Power is
drawn eight times as often: of 1,000 simulations its own error is 1.2 points.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "report"))

from simulations import LAYOUTS, coverage_of_differences, coverage_of_shares, layout

from egobench_tasks.report.analyse.power import Design, design_effect, smallest_difference

SIZES = {"single": (200, 500), "equal": (20, 54), "uneven": (20, 54, 120)}
RATES = (0.05, 0.3, 0.6)
CHANGES = ((0.1, 0.1), (0.05, 0.05), (0.25, 0.1))
DESIGNS = ((500, 500, 0.2, 0.0), (200, 200, 0.3, 0.0), (320, 40, 0.25, 0.2), (480, 60, 0.15, 0.05), (160, 20, 0.3, 0.1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    n, seed, outside = arguments.simulations, arguments.seed, []

    def said(what: str, value: float, low: float, high: float, why: str = "") -> None:
        print(f"{what}: {100 * value:.1f} %", flush=True)
        if not low <= value <= high:
            outside.append(f"{what}: {100 * value:.1f} %{f' ({why})' if why else ''}")

    for kind, counts in SIZES.items():
        for count in counts:
            clusters = layout(LAYOUTS[kind], count, np.random.default_rng(7))
            for correlated in (0.0,) if kind == "single" else (0.0, 0.1, 0.3):
                where = f"{kind}, {count} clusters, {len(clusters.of)} questions, correlation {correlated}"
                for rate in RATES:
                    found = coverage_of_shares(clusters, rate, correlated, n, seed)
                    said(f"share {rate}, {where}: covered", found.interval, 0.93, 0.97, found.missed)
                for gained, lost in CHANGES:
                    found = coverage_of_differences(clusters, gained, lost, correlated, n, seed)
                    what = f"gained {gained}, lost {lost}, {where}"
                    said(f"{what}: covered", found.interval, 0.93, 0.97, found.missed)
                    if gained == lost:
                        said(f"{what}: t finds", found.rejected, 0.0, 0.07)
                        said(f"{what}: flips find", found.sign_flip_rejected, 0.0, 0.07)
    for questions, count, discordance, correlated in DESIGNS:
        effect = design_effect(questions, count, correlated)
        design = Design(questions=questions, df=count - 1, discordance=discordance, design_effect=effect)
        least = smallest_difference(design)
        clusters = layout(lambda count, _, size=questions // count: np.full(count, size), count, None)
        found = coverage_of_differences(
            clusters, (discordance + least) / 2, (discordance - least) / 2, correlated, 8 * n, seed
        )
        said(f"power at {100 * least:.1f} points, {questions} in {count} clusters", found.rejected, 0.78, 0.82)
    print(f"\n{len(outside)} outside" + "".join(f"\n  {line}" for line in outside))


if __name__ == "__main__":
    main()
