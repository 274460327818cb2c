"""Seconds until commands say something, in fresh processes: help, refusals, a run's first line.

python tests/bench/start.py [REPEATS]
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MISTYPED = "models: [{transformers: {model_name: x}}]\ntsks: egogears\noutput: out\n"
SERVED = "base_url: http://127.0.0.1:9/v1\nmodel: m\nmax_retries: 0\n"


def seconds(command, folder):
    """Seconds until a command's first line, and until its end."""
    begun_s = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    process.stdout.readline()
    first_s = time.monotonic() - begun_s
    process.stdout.read()
    process.wait()
    return first_s, time.monotonic() - begun_s


def main():
    n_repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    egobench = str(Path(sys.executable).parent / "egobench")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "night.yaml").write_text(MISTYPED)
        (Path(folder) / "served.yaml").write_text(SERVED)
        commands = {
            "egobench --help": [egobench, "--help"],
            "a misspelt key in a run's file": [egobench, "run", "night.yaml"],
            "a mistyped task": [egobench, "run", "transformers", "model_name=x", "egogear"],
        }
        if os.environ.get("EGOGEARS_DATA"):  # it ends at its first request, which finds no server
            commands["an endpoint run"] = [egobench, "run", "endpoint", "served.yaml", "egogears"]
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; medians of {n_repeats}")
        for name, command in commands.items():
            seconds(command, folder)  # its files are in memory after this
            measured = [seconds(command, folder) for _ in range(n_repeats)]
            first, end = (statistics.median(column) for column in zip(*measured, strict=True))
            print(f"{name:32} first line {first:5.2f} s, end {end:5.2f} s")


if __name__ == "__main__":
    main()
