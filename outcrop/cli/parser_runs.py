"""The options of long checks: several ranks, and checkpoints."""

from __future__ import annotations

import argparse

from outcrop.cli.values import count, unit
from outcrop.manual import see
from outcrop.options import CheckOptions
from outcrop.units import parse_duration

_DEFAULT = CheckOptions()


def add_ranks(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("distributed search")
    group.add_argument(
        "--ranks",
        metavar="N",
        type=count,
        help="number of processes that partition the states, over MPI; Outcrop starts them on this machine, unless "
        f"mpiexec or srun has started them. {see('clusters')}",
    )
    group.add_argument(
        "--owners",
        choices=("auto", "hash"),
        default="auto",
        help="partition of the states among ranks: by a hash, or (auto, the default) learned once there are many "
        "states, so that most successors stay on the rank that generates them",
    )


def add_checkpoints(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "checkpoints", f"A checkpoint holds all that a search needs to be resumed. {see('checkpoints')}"
    )
    group.add_argument(
        "--checkpoint",
        metavar="DIR",
        help="directory, or URL such as s3://BUCKET/NAME, to save the search in, at intervals and when Ctrl-C, SIGTERM "
        "or a limit ends it; removed after a verdict",
    )
    group.add_argument(
        "--checkpoint-every",
        metavar="TIME",
        type=unit(parse_duration),
        default=_DEFAULT.checkpoint_every,
        help="time between checkpoints, which are taken at the end of a level (default: 10m)",
    )
    group.add_argument(
        "--resume",
        metavar="DIR",
        help="directory or URL of the checkpoint to resume, with any strategy, threads and memory; new checkpoints go "
        "there too, unless --checkpoint names another place",
    )
    group.add_argument(
        "--keep-states",
        metavar="DIR",
        help="directory in which the visited states stay after the search, for outcrop recheck",
    )
