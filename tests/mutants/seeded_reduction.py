"""Seeded bugs in partial-order reduction and in what reports say of it: for each file, texts and their replacements."""

from __future__ import annotations

REDUCTION = {
    "reduction/tables.py": (
        # Rules that go first are forgotten; a queue with one end only.
        ("                    each.effects.reads |= before\n", ""),
        ("(queue, not appends)", "(queue, appends)"),
        # A property is taken apart that is no conjunction.
        ("if each.kind is PropertyKind.INVARIANT else [(each.condition, {})]", "if each.condition else []"),
        # Instances of the same priority wait; a value that permits a guard is taken for one that does not.
        ("if other > level) for level in found", "if other >= level) for level in found"),
        ("sets = (() if wanted >> value & 1 else", "sets = (() if not wanted >> value & 1 else"),
    ),
    "codegen/reduced.py": (
        # Instances are taken for settled that need more.
        ("if not row & ~whole)", "if row & whole)"),
    ),
    "reduction/instances.py": (
        # A value that is demanded only later.
        ("        assumed |= _assumed(each.known, demands, each.reads)\n", ""),
    ),
    "reduction/boxes.py": (
        # Values that states are not tested for.
        ("            tested |= each.assumed\n", "            tested |= 0\n"),
        # An instance that is traced again, but without its body.
        ("                    done &= ~each.bit\n", ""),
    ),
    "reduction/effects.py": (
        # A counter that was written before.
        ("leaf is None or leaf in self.effects.stores or", "leaf is None or"),
    ),
    "reduction/interpreted.py": (
        # A state in which a guard fails fires a part.
        ("if len(ready) < len(found):", "if not ready:"),
    ),
    "lang/promela/rules.py": (
        # Messages that are sorted; channels whose length is sent.
        ("if not is_plain or any(", "if any("),
        ("any(isinstance(each, asks) for each in syntax.walk(step.action))", "not step.action"),
        ("step.rivals or channel.storage in build.variables_in(others)", "step.rivals"),
    ),
    "check/reducing.py": (("if subject is not None and _has_next(subject.formula):", "if subject is None:"),),
    "check/kept.py": (("if options.reduce is not Reduce.OFF:", "if False:"),),
    "check/conclusion.py": (
        # Faults that hide behind others, and what is said of properties then.
        ("for number, finding in enumerate(findings if most > 1 else ()):", "for number, finding in enumerate(()):"),
        (
            "return outcome.stop is Stop.COMPLETE and not is_full and not is_late",
            "return outcome.stop is Stop.COMPLETE",
        ),
    ),
}
