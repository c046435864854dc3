#!/bin/bash
# A check over 8 ranks with Slurm, which can be preempted: sbatch deploy/slurm.sh big.m
# Slurm sends SIGTERM two minutes before the end. The search then saves its checkpoint and ends with exit code 3, and the
# job puts itself back into the queue.
#SBATCH --job-name=outcrop
#SBATCH --ntasks=8
#SBATCH --cpus-per-task=4
#SBATCH --mem-per-cpu=4G
#SBATCH --time=12:00:00
#SBATCH --signal=TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
set -u

model=${1:?name a model: sbatch deploy/slurm.sh MODEL [OPTIONS]}
shift
save=${OUTCROP_SAVE:-$PWD/$(basename "$model").save}

place=--checkpoint
[ -n "$(find "$save" -name 'manifest*.json' -print -quit 2>/dev/null)" ] && place=--resume

srun --mpi=pmi2 outcrop check "$model" "$place" "$save" --checkpoint-every 10m "$@"
code=$?
if [ "$code" -eq 3 ] && [ -n "$(find "$save" -name 'manifest*.json' -print -quit 2>/dev/null)" ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
