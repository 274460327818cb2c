#!/bin/bash
# docs/cluster's job scripts on a SLURM of this machine's own: tests/servers/slurm.sh (as root, on Debian).
#
# Installs slurm-wlm and munge where they are missing and starts them on a folder that is removed afterwards; they need
# neither systemd nor cgroups. The sample's questions, with probes, are answered by the tiny model as an array of 4; one task is
# requeued midway, as by preemption, another gets SLURM's advance signal. The merged table must be that of a run that
# nobody disturbed, and no answer may have been given twice.
set -euo pipefail
cd "$(dirname "$0")/../.."
jobs=$PWD/docs/cluster
command -v egobench >/dev/null || { echo "egobench is not on the path: run make cluster" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "needs root: SLURM's daemons start jobs for users" >&2; exit 2; }
if ! command -v slurmctld >/dev/null || ! command -v munged >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge >/dev/null
fi

work=$(mktemp -d)
daemons=()
end() {
    code=$?
    [ "$code" -eq 0 ] || tail -n 30 "$work"/*.log "$work"/jobs/*.log || true
    scancel --user=root >/dev/null 2>&1 || true
    for daemon in "${daemons[@]}"; do kill "$daemon" 2>/dev/null || true; done
    wait || true
    rm -rf "$work"
    exit "$code"
}
trap end EXIT

say() { printf '%s %s\n' "$(date +%T)" "$*"; }

wait_for() { # a command that succeeds at last, within so many seconds
    for _ in $(seq $(($1 * 20))); do "${@:2}" && return; sleep 0.05; done
    echo "waited in vain for: ${*:2}" >&2
    return 1
}

# ---------------------------------------------------------------------------- the cluster
node=$(hostname -s)
port=$((20000 + RANDOM % 10000)) # another cluster's daemons may be on this machine
mkdir -p "$work"/{state,spool,jobs}
(umask 077 && head -c 1024 /dev/urandom >"$work/munge.key")
munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munge.pid" \
    --log-file="$work/munged.log" --seed-file="$work/munge.seed" >"$work/munged.out.log" 2>&1 &
daemons+=($!)
cat >"$work/slurm.conf" <<CONF
ClusterName=egobench
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
PropagateResourceLimits=NONE
JobRequeue=1
KillWait=30
ReturnToService=2
SchedulerParameters=batch_sched_delay=1,sched_interval=2
SlurmdParameters=config_overrides
NodeName=$node NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=main Nodes=$node Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$work/slurm.conf
wait_for 20 test -S "$work/munge.socket"
slurmctld -D >"$work/slurmctld.log" 2>&1 &
daemons+=($!)
slurmd -D -N "$node" >"$work/slurmd.log" 2>&1 &
daemons+=($!)
is_idle() { [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]; }
wait_for 60 is_idle
say "SLURM $(sinfo --version | cut -d' ' -f2), node $node, 4 places"

# ---------------------------------------------------------------------------- the run that nobody disturbs
export HF_HUB_OFFLINE=1 HF_HOME=$work/hf EGOBENCH_CACHE=$work/cache OMP_NUM_THREADS=1
export EGOGEARS_DATA=$work/egogears
egobench sample "$work" >/dev/null
python -m dataset_scripts.sample.tiny_vlm "$work/tiny-llava"
egobench frames "$work/egogears" >/dev/null 2>&1
export MODEL="model_name=$work/tiny-llava,generation_size=64" TASKS=egogears,probes # so many questions that a task of the array is at work for a while
EGOBENCH_JOURNAL=$work/undisturbed \
    egobench run transformers "$MODEL" "$TASKS" --output-dir "$work/whole" >"$work/whole.log" 2>&1
say "undisturbed: $(grep -c . "$work"/undisturbed/*/*.jsonl) answers"

# ---------------------------------------------------------------------------- the array
export OUT=$work/parts EGOBENCH_JOURNAL=$work/journal
cd "$work/jobs"
id=$(sbatch --parsable --array=1-4 --ntasks=1 --time=30 "$jobs/answer.sbatch")
merging=$(sbatch --parsable --dependency="afterany:$id" --ntasks=1 --time=10 "$jobs/merge.sbatch")
say "array $id, and $merging to merge it"

answers() { cat "$work"/journal/*/*.jsonl 2>/dev/null | wc -l; }
log_of() { echo "$work/jobs/egobench-answer-${id}_$1.log"; }
is_answering() { grep -q 'Answering in .* [1-9][0-9]*/' "$(log_of "$1")" 2>/dev/null; }

wait_for 300 is_answering 1
scontrol requeue "${id}_1"
say "requeued ${id}_1 with $(answers) answers in the journal"
wait_for 300 is_answering 2
scancel --signal=TERM "${id}_2" # what SLURM does at --signal=TERM@300: the step, not the script
say "signalled ${id}_2 with $(answers) answers in the journal"

was_told() { grep -q 'ended on SIGTERM: [1-9][0-9]* of .* answers are kept in' "$(log_of "$1")"; }
for task in 1 2; do
    wait_for 60 was_told "$task"
    say "${id}_$task: $(grep -ao 'egobench: ended on SIGTERM.*' "$(log_of "$task")" | tail -1)"
done
kept=$(answers)

# SLURM holds requeued jobs back for two minutes; no need to wait for that here.
hasten() {
    for job in $(squeue --noheader --states=PENDING --format=%A --name=egobench-answer); do
        scontrol update JobId="$job" StartTime=now 2>/dev/null || true
    done
}
is_over() {
    hasten
    sleep 1
    local queued
    queued=$(squeue --noheader --format=%i) && [ -z "$queued" ]
}
wait_for 600 is_over
say "all ended; $(grep -h 'questions from' egobench-merge-*.log)"

# ---------------------------------------------------------------------------- compare
python - "$work" "$kept" <<'PYTHON'
import json, sys
from collections import Counter
from pathlib import Path

work, kept = Path(sys.argv[1]), int(sys.argv[2])


def scores(folder):
    (path,) = (work / folder).rglob("results_*.json")
    return json.loads(path.read_text())["results"]


def answers(folder):
    lines = [json.loads(line) for path in (work / folder).glob("*/*.jsonl") for line in path.open()]
    return [line["key"] for line in lines]


asked = Counter(answers("journal"))
assert 0 < kept < len(asked), f"{kept} of {len(asked)} answers were there when the jobs ended: not midway"
assert set(asked) == set(answers("undisturbed")) and set(asked.values()) == {1}, asked
assert scores("whole") == scores("parts/merged"), (scores("whole"), scores("parts/merged"))
print(f"{len(asked)} questions, each answered once; {kept} answers stood when two jobs were told to end.")
print("The merged table is that of the undisturbed run:")
PYTHON
grep -E '^\|(egogears|all)|^\|Task' egobench-merge-*.log
