#!/bin/sh
# Makes an environment with lmms-eval 0.7 in the folder $1 (2.4 GB), of its own: its PyAV is older than ours.
# torchvision as built for CUDA does not import beside torch for a CPU; that is mended here, in this environment alone.
set -eu
${PYTHON:-python3} -m venv "$1"
"$1/bin/pip" install --quiet lmms-eval==0.7.3 "filelock<3.20" torch==2.13.0 torchvision==0.28.0
site=$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
: > "$site/torchvision/_meta_registrations.py"
touch "$1/installed"
