"""The interface of the kernels: C and Python read the same declarations."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from pathlib import Path

import pytest

from outcrop.errors import InternalError
from outcrop.kernels.abi import interface, read, structure

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "outcrop"
NATIVE = PACKAGE / "native"
HEADERS = sorted(NATIVE.glob("abi*.h"))
CC = os.environ.get("CC", "cc")

#: Models that together have all kernels.
MODELS = {
    "walks": ("toy_model.c", ("HAS_COVERAGE=1",)),
    "observed": ("toy_model.c", ("HAS_INSTANCES=1",)),
    "squeezed": ("toy_model.c", ("SQUEEZED_BYTES=6",)),
    "cycles": ("graph_model.c", ("HAS_FAIRNESS=1", "HAS_MOVERS=1", "FAIRNESS_SETS=4", "FAIRNESS_IS_STRONG=1")),
}


def check_c(source: str, directory: Path, *flags: str) -> str:
    """Compiles a translation unit for its warnings, and returns them. An error fails the test."""
    path = directory / "unit.c"
    path.write_text(source)
    command = [CC, "-std=gnu11", "-fsyntax-only", *flags, "-I", str(NATIVE), "-I", str(HERE), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return done.stderr


def test_every_exported_function_is_declared_and_the_other_way_round() -> None:
    exported = re.compile(r"^EXPORT [\w ]+?\*?(\w+)\(", re.MULTILINE)
    texts = [path.read_text(encoding="utf-8") for path in sorted(NATIVE.glob("*.c"))]
    names = [name for text in texts for name in exported.findall(text)]
    assert len(names) == sum(text.count("\nEXPORT ") for text in texts)
    assert sorted(names) == sorted(interface().functions)


def test_python_binds_every_declared_function_and_no_other() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((PACKAGE / "kernels").glob("*.py"))]
    assert {name for text in texts for name in re.findall(r'"(outcrop_\w+)"', text)} == set(interface().functions)


@pytest.mark.parametrize("model", MODELS)
def test_the_compiler_holds_definitions_to_the_declarations(model: str, tmp_path: Path) -> None:
    """Types that differ are an error in C anyway. A file that does not include its header is an error only here."""
    file, constants = MODELS[model]
    source = f'#include "{file}"\n#include "kernels.c"\n'
    warnings = check_c(source, tmp_path, "-Wmissing-prototypes", *(f"-D{each}" for each in constants))
    assert re.findall(r"no previous prototype for .*?(outcrop_\w+)", warnings) == []


def test_structures_lie_in_memory_as_c_lays_them_out(tmp_path: Path) -> None:
    lines = [f'#include "{path.name}"' for path in HEADERS] + ["#include <stddef.h>"]
    for name, kind in interface().structures.items():
        facts = [f"sizeof({name}) == {ctypes.sizeof(kind)}"]
        facts += [f"offsetof({name}, {field[0]}) == {getattr(kind, field[0]).offset}" for field in kind._fields_]
        lines += [f'_Static_assert({fact}, "{name}");' for fact in facts]
    check_c("\n".join(lines), tmp_path)


def test_a_structure_refuses_fields_that_it_does_not_have() -> None:
    with pytest.raises(AttributeError, match="exakt"):
        structure("Settings")(exakt=1)


def test_what_declarations_become() -> None:
    found = read(
        """/* A comment; with int of_no_account(void); in it */
        typedef struct Thing Thing;
        typedef struct { const uint64_t *rows, count; double parts[3]; } Table;
        typedef int (*Call)(uint64_t number);
        const Thing *thing_open(const Table *table, Call call,
                                double part); /* over two lines */
        void thing_close(Thing *thing);
        int thing_count(void);"""
    )
    pointer = ctypes.c_void_p
    assert found.functions == {
        "thing_open": (pointer, (pointer, pointer, ctypes.c_double)),
        "thing_close": (None, (pointer,)),
        "thing_count": (ctypes.c_int, ()),
    }
    assert found.callbacks == {"Call": (ctypes.c_int, (ctypes.c_uint64,))}
    fields = found.structures["Table"]._fields_
    assert [(name, kind) for name, kind, *_ in fields][:2] == [("rows", pointer), ("count", ctypes.c_uint64)]


@pytest.mark.parametrize(
    "text",
    [
        "#if HAS_COVERAGE\nint a(void);\n#endif",
        "#define MOST 4",
        '#include "kernels.c"',
        "int a();",
        "int a(uint64_t);",
        "int a(long b);",
        "int a(unsigned int b);",
        "int a(uint64_t b[4]);",
        "int a(int (*b)(void));",
        "int a(void b);",
        "int a(int b, ...);",
        "static int a(void);",
        "int a(void) { return 0; }",
        "int a(void)",
        "int a(Unknown *b);",
        "int a(void); int a(void);",
        "int a(void); void b(a *c);",
        "enum { A, B };",
        "typedef uint64_t Number;",
        "typedef struct A B;",
        "typedef struct { int a : 3; } A;",
        "typedef struct { struct { int a; } b; } A;",
        "typedef struct { int a[N]; } A;",
        "typedef struct A A; int a(A b);",
        "typedef struct { int a; } A; A a(void);",
        "typedef struct { int a; } A; int a(A b);",
        "// a comment\nint a(void);",
    ],
)
def test_c_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(InternalError, match="cannot read the interface"):
        read(text)
