"""The sandbox for untrusted models: it confines the child process that compiles and checks them.

The kernel enforces it. Landlock refuses every write outside the given directories and files. A seccomp filter refuses
sockets, changes of file attributes, typing into the terminal, and system calls that reach into other processes or into
the kernel. Reading stays allowed, since a compiler reads headers from many places, and nothing read can leave. The
compiler that the child starts inherits both, and neither can be undone.

The child compiles into a private cache, which is removed when it ends, so that other processes never load its output.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from outcrop.errors import InternalError, OutcropError, Undecided, UsageError
from outcrop.interrupts import handled
from outcrop.machine import cache_home
from outcrop.scratch import ScratchDirectory

_libc = ctypes.CDLL(None, use_errno=True)

# --- Landlock (linux/landlock.h); its calls have the same numbers on all machines ---------------------------

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_WRITE_FILE = 1 << 1
#: Removing and making entries of all kinds, and renaming across directories.
_CHANGE_DIRECTORY = sum(1 << bit for bit in range(4, 14))
_TRUNCATE = 1 << 14
_ON_DIRECTORIES = _WRITE_FILE | _CHANGE_DIRECTORY | _TRUNCATE
_ON_FILES = _WRITE_FILE | _TRUNCATE
_TCP = 0b11  # bind and connect
_SCOPES = 0b11  # abstract sockets and signals

# --- seccomp (linux/seccomp.h, linux/filter.h) ---------------------------------------------------------------

_SET_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_SET_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | 1, 0x80000000  # 1: EPERM
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
#: System calls by their x86_64 names, with their numbers on both architectures.
_REFUSED = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "move_mount": (429, 429),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    # File attributes, which Landlock does not protect: owner, permissions, times and extended attributes.
    "chown": (92, 54),
    "fchown": (93, 55),
    "lchown": (94, 54),
    "fchownat": (260, 54),
    "chmod": (90, 53),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "utime": (132, 88),
    "utimes": (235, 88),
    "futimesat": (261, 88),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    # Signals to other processes, and other calls that take the number of a process.
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
}
#: Calls that a process may make about itself, with the index of the argument that names the process.
_ABOUT_ITSELF = {"kill": (62, 129, 0), "tgkill": (234, 131, 0), "prlimit64": (302, 261, 0)}
#: The ioctl commands that type into a terminal or change its console.
_IOCTL = (16, 29)
_TYPING = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
#: First number of the second call table of x86_64 (x32), which would bypass the filter.
_X32 = 0x40000000


def run_confined(action: Callable[[], int], writable: Sequence[Path]) -> int:
    """Runs ``action`` in a child that may write only to the directories and files in ``writable``. Returns its exit
    code. Must be called before any thread is started."""
    _require_support()
    with _own_cache() as cache, _present(writable):
        sys.stdout.flush()
        sys.stderr.flush()
        with _orphans_ended():
            child = os.fork()
            if child == 0:
                _run_child(action, [*writable, cache])
            return _wait(child)


def _run_child(action: Callable[[], int], writable: Sequence[Path]) -> None:
    """Runs ``action`` and exits. Does not return, since the code around the call belongs to the parent."""
    code = InternalError.exit_code
    try:
        # Landlock does not cover files that are already open.
        os.closerange(3, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") < 1 << 16 else 1 << 16)
        _libc.prctl(_SET_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
        confine([*writable, Path(os.devnull)])
        code = action()
        sys.stdout.flush()
        sys.stderr.flush()
    except KeyboardInterrupt as error:
        code = Undecided.exit_code
        sys.stderr.write(f"outcrop: {error or 'interrupted'}\n")
    except BaseException as error:
        sys.stderr.write(f"outcrop: {error or type(error).__name__}\n")
        sys.stderr.flush()
    finally:
        os._exit(code)


def _wait(child: int) -> int:
    """Returns the exit code of the child. Signals are passed on to it while it runs."""

    def pass_on(number: int, _: object) -> None:
        # A terminal signals the child as well; a second SIGINT at the same moment would end it at once.
        if number != signal.SIGINT or os.getpgid(0) != os.getpgid(child) or not os.isatty(0):
            os.kill(child, number)

    with handled(pass_on):
        _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        raise _ended_by(signal.Signals(os.WTERMSIG(status)))
    return os.WEXITSTATUS(status)


def _ended_by(number: signal.Signals) -> OutcropError:
    if number is signal.SIGKILL:
        return Undecided("the search was killed. If the system ran out of memory, limit the search with --memory")
    return InternalError(f"the search was ended by signal {number.name}")


@contextmanager
def _orphans_ended() -> Iterator[None]:
    """Ends the processes that the child has left behind, such as a compiler that it was not allowed to signal. The
    system makes them children of this process when their parent ends."""
    others = _children()
    _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        while orphans := _children() - others:
            for orphan in orphans:
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)
        _libc.prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _children() -> set[int]:
    """Returns the child processes, as far as the system reports them."""
    with suppress(OSError):
        return {int(each) for each in Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split()}
    return set()


@contextmanager
def _own_cache() -> Iterator[Path]:
    """Provides a private directory in place of the user's cache and temporary directory."""
    home = cache_home()
    try:
        home.mkdir(parents=True, exist_ok=True)
        scratch = ScratchDirectory(home, f"outcrop-sandbox-{os.getuid()}-")
    except OSError as error:
        raise UsageError(
            f"cannot compile the model in '{home}': {error.strerror}. Set XDG_CACHE_HOME to another directory"
        ) from None
    before = {name: os.environ.get(name) for name in ("XDG_CACHE_HOME", "TMPDIR")}
    os.environ.update(dict.fromkeys(before, str(scratch.path)))
    tempfile.tempdir = None
    try:
        yield scratch.path
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
        tempfile.tempdir = None
        scratch.close()


@contextmanager
def _present(paths: Sequence[Path]) -> Iterator[None]:
    """Creates missing files, since only existing ones can be allowed. Removes those that are empty at the end."""
    made = []
    for path in paths:
        if not path.exists():
            try:
                path.touch()
            except OSError as error:
                raise UsageError(f"cannot write '{path}': {error.strerror}") from None
            made.append(path)
    try:
        yield
    finally:
        for path in made:
            if path.stat().st_size == 0:
                path.unlink()


# --- The two filters -----------------------------------------------------------------------------------------


def _require_support() -> None:
    if sys.platform != "linux" or platform.machine() not in _ARCHITECTURES or _landlock_version() < 1:
        raise UsageError(
            "--sandbox needs Linux 5.13 or later with Landlock, on x86_64 or aarch64. Check the model without "
            "--sandbox, or on another machine"
        )


def _landlock_version() -> int:
    return int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_CREATE_RULESET_VERSION)))


def confine(writable: Sequence[Path]) -> None:
    """Confines this process and all processes that it starts: they may write only to ``writable``."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _call("prctl", _libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _refuse_writes(writable)
    _refuse_calls()


def _refuse_writes(writable: Sequence[Path]) -> None:
    version = _landlock_version()
    handled = _ON_DIRECTORIES
    if version < 3:
        handled &= ~_TRUNCATE
    if version < 2:
        handled &= ~(1 << 13)  # renaming across directories is always refused
    attributes = struct.pack("<QQQ", handled, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _call("Landlock", _libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0)))
    for path in writable:
        allowed = handled & (_ON_DIRECTORIES if path.is_dir() else _ON_FILES)
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("<Qi", allowed, place)
        _call(
            "Landlock",
            _libc.syscall(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_RULE_PATH_BENEATH), rule, ctypes.c_uint32(0)),
        )
        os.close(place)
    _call("Landlock", _libc.syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)))
    os.close(ruleset)


def _refuse_calls() -> None:
    machine = platform.machine()
    column = list(_ARCHITECTURES).index(machine)
    numbers = sorted({row[column] for row in _REFUSED.values()})
    program = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_JUMP_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),  # the number of the call
        (_JUMP_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _REFUSE),
    ]
    own = os.getpid()
    for row in _ABOUT_ITSELF.values():
        program += _by_argument(row[column], row[2], (0, own) if row[0] == 302 else (own,), _ALLOW, _REFUSE)
    program += _by_argument(_IOCTL[column], 1, _TYPING, _REFUSE, _ALLOW)
    program += [(_JUMP_EQUAL, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
    program += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *each) for each in program))
    header = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(program), ctypes.addressof(code)))
    _call("seccomp", _libc.prctl(_SET_SECCOMP, _FILTER_MODE, header, 0, 0))


def _by_argument(
    number: int, argument: int, values: Sequence[int], if_one: int, if_none: int
) -> list[tuple[int, int, int, int]]:
    """Returns a filter for a call that depends on whether the low half of an argument is one of some values."""
    decide = [(_LOAD, 0, 0, 16 + 8 * argument)]
    for value in values:
        decide += [(_JUMP_EQUAL, 0, 1, value), (_RETURN, 0, 0, if_one)]
    decide.append((_RETURN, 0, 0, if_none))
    return [(_JUMP_EQUAL, 0, len(decide), number), *decide]


def _call(what: str, result: int) -> int:
    if result < 0:
        raise UsageError(
            f"--sandbox: {what} refused: {os.strerror(ctypes.get_errno())}; check without it, or on another machine"
        )
    return int(result)
