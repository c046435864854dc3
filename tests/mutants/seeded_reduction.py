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
        # Instances that store what nobody knows; guards that fail before the conjunct.
        ("            mask = -1\n", "            mask = 0\n"),
        ("rows = [row | failing for row in self._by_value(leaf)]", "rows = list(self._by_value(leaf))"),
        ("storing = self._storing(leaf, wanted) | failing", "storing = self._storing(leaf, wanted)"),
        # Steps that commute, but for those that go first.
        ("if not self._has_priorities and self.box.live", "if self.box.live"),
        # A property with "exists" is taken apart.
        ("node.quantifier is Quantifier.FORALL:", "node.quantifier in Quantifier:"),
    ),
    "reduction/commuting.py": (
        # Guards that may fail, and failures.
        ("                if conjunct.can_fail:\n                    raise\n", "                pass\n"),
        (
            "            except (Fault, Abandoned):\n                return False",
            "            except Fault:\n                continue",
        ),
        # Conditions on which an instance fails, for one of them and for both.
        ("return one_first == one_then and other_first == other_then and", "return"),
        ("one_first == one_then and other_first == other_then", "one_first == one_then"),
        # The next states; guards that become false, for both and for one of them.
        (" and all(map(are_alike, *found))", ""),
        ("if conjunct.reads & first.effects.writes and not test(", "if conjunct.reads < 0 and not test("),
        ("for first, second in ((one, other), (other, one)):", "for first, second in ((one, other), (one, other)):"),
        # Values of a box in states outside of it; undefined ones.
        ("        values = self._widest.values[leaf]\n", "        values = self._box.values[leaf]\n"),
        ("                found = [None, *found]", "                found = [*found]"),
        ("        if reads & self._wide & ~self._defined:", "        if reads < 0:"),
        ("tried |= (None in values) << leaf", "tried |= 0"),
        # Instances that note, print or count.
        ("return node.undefined is Undefined.NOTE and", "return False and"),
        ("    Cover,\n    Put,\n    Witnessed,\n    RealCall,", "    Put,\n    Witnessed,\n    RealCall,"),
        ("    Put,\n    Witnessed,\n    RealCall,", "    Witnessed,\n    RealCall,"),
    ),
    "reduction/symbols.py": (
        # A condition on which a step fails is forgotten; arithmetic that overflows.
        ("                self.checks.append((value.form, kind.lower, kind.upper))\n", ""),
        (
            "            if not self._fits(found):\n",
            "            if not isinstance(found, Symbol) and not self._fits(found):\n",
        ),
        # Bounds that are too narrow, and comparisons that they do not decide.
        ("bounds = (low - most, high - least)", "bounds = (low - least, high - most)"),
        ("bounds = (min(products), max(products))", "bounds = (low * least, high * most)"),
        ("bounds = (0, min(high, least - 1))", "bounds = (low % least, high % least)"),
        ("self.high < low, self.low >= high)", "self.high <= low, self.low > high)"),
        ("self.high <= low, self.low > high)", "self.high <= low, self.low >= high)"),
        ("low == self.low == self.high == high,", "low == self.low,"),
        ("self.low > 0 or self.high < 0,", "self.low >= 0 or self.high < 0,"),
        # Operations in another order.
        ("one.form == other.form", "one.leaves == other.leaves"),
    ),
    "reduction/truths.py": (
        # Conjuncts that fail: taken for false, with values that do not count, and before one that does not fail.
        ("is_true, fails = False, True", "is_true, fails = False, False"),
        ("unless_false[leaf] |= bit\n", "unless_false[leaf] |= bit if is_true else 0\n"),
        ("can_fail = can_fail or fails", "can_fail = fails"),
        # Undefined values; tables for other known values and other parameters.
        ("return values if self._defined >> leaf & 1 else [None, *values]", "return values"),
        ("key = (node, reads, fixed,", "key = (node, reads,"),
        ("(rule, arguments) if uses_locals else ())", "())"),
    ),
    "reduction/weights.py": (
        # A step that may lead to several values.
        ("gain = min(after(numbers)) - max(before(numbers))", "gain = max(after(numbers)) - max(before(numbers))"),
    ),
    "codegen/reduced.py": (
        # Instances are taken for settled that need more.
        ("if not row & ~whole)", "if row & whole)"),
        # A shift by a value that is too large.
        ("if 1 << width <= _WORD:", "if width <= _WORD:"),
    ),
    "native/stubborn.h": (
        # Instances are taken for settled by a set that was added before; conjuncts that are true.
        (
            "const Instances *settled = &enabling_rows[NOTHING], *row;",
            "static const Instances *settled = enabling_rows, *row;",
        ),
        ("      if (!(is_false >> option->conjunct & 1)) continue;\n", ""),
        # A step that does not ascend.
        ("leads_on |= leads & (int)(phase->starts.words[word] >> bit & 1);", "leads_on |= leads;"),
    ),
    "reduction/instances.py": (
        # A value that is demanded only later.
        ("        assumed |= _assumed(each.known, demands, each.reads)\n", ""),
        # Values that are known because of the box, and that bodies take for known.
        (" or demands[leaf].bit_count() > 1)", ")"),
        ("    each.assumed |= _assumed(inside, each.demands, each.effects.reads)\n", ""),
    ),
    "reduction/guards.py": (
        # Conjuncts behind one that can fail; those that fail with values that their table has.
        ("        if each.can_fail:\n            break\n", ""),
        ("truth.can_fail, True,", "False, True,"),
        ("truth.demands, truth.unless_false)", "truth.demands, truth.demands)"),
    ),
    "reduction/boxes.py": (
        # Counters that go on counting.
        ("            changed |= self._count(instances, counting)\n", ""),
        # Leaves are taken for those that symmetry exchanges because fields have one name.
        ("yield from _paths(each, (*path, offset), at + offset)", "yield from _paths(each, (*path, _), at + offset)"),
        # Values that states are not tested for.
        ("            tested |= each.assumed\n", "            tested |= 0\n"),
        ("                    tested |= 1 << refused[0]\n", "                    tested |= 0\n"),
        # An instance that is traced again, but without its body.
        ("                done &= ~each.bit\n", ""),
    ),
    "reduction/effects.py": (
        # Turns of a loop that may not happen.
        ("is_certain = is_certain and not any(map(may_return, node.body))", "pass"),
        ("            turn(False)\n", "            turn(True)\n"),
        # A counter that was written before.
        ("leaf is None or leaf in self.effects.stores or", "leaf is None or"),
        # A statement behind one that may return.
        ("            is_certain = is_certain and not may_return(each)\n", ""),
    ),
    "reduction/leaves.py": (
        # A value that nobody knows, stored before one that is known.
        (" or (before is not None and before.values is None):", ":"),
    ),
    "reduction/ranking.py": (
        # A leaf that is perhaps not written.
        (
            "found.append(Term(each.side(after), each.side(before), stored.is_certain))",
            "found.append(Term(each.side(after), each.side(before), True))",
        ),
    ),
    "reduction/folding.py": (
        # Quotients of negative numbers.
        ("if left >= 0 and right >= 0 else None", "if right >= 0 else None"),
    ),
    "reduction/prepare.py": (
        # Models that cannot be reduced.
        ("if system.of_kind(PropertyKind.ASSUMPTION):", "if False:"),
        ("if system.forgives_failures:", "if False:"),
    ),
    "reduction/sample.py": (
        # Instances around which sets are small, and a gain of time alone.
        ("if successes[each] * _STATES_A_SMALL_SET < tries[each])", "if tries[each])"),
        ("MOST_TIME + _TIME_FOR_STATES * (1 - self.share)", "MOST_TIME * self.time"),
    ),
    "codegen/identity.py": (
        # A search that is resumed with other choices, or has skipped other properties.
        ("(NATIVE / _CHOICE).read_text())) if relations", "(NATIVE / _CHOICE).read_text())) if False"),
        ("for name in system.skipped) or None", "for name in ()) or None"),
    ),
    "check/selection.py": (("(options.checkpoint is not None and options.reduce is not Reduce.OFF)", "False"),),
    "reduction/interpreted.py": (
        # A state in which a guard fails fires a part.
        ("        if failing:  # a violation", "        if not ready:"),
    ),
    "lang/promela/rules.py": (
        # Messages that are sorted; channels whose length is sent.
        ("if is_plain and not any(", "if not any("),
        ("any(isinstance(each, asks) for each in syntax.walk(step.action))", "not step.action"),
    ),
    "lang/promela/holding.py": (
        # Channels in messages, parameters, and numbers that are computed or wrap around.
        ("self._sent[channel, number] |= self._values(each, process)", "self._sent[channel, number] |= 0"),
        ("self._held[parameter] |= value", "self._held[parameter] |= 0"),
        ("        return self._any\n\n    def _referred", "        return _TRUTH\n\n    def _referred"),
        ("return 1 << node.value % _NUMBERS", "return 1 << node.value"),
    ),
    "lang/promela/preconditions.py": (
        # A test that may fail, and what an earlier step writes.
        ("self._waits = self._waits or isinstance(each, Assume)", "self._waits = False"),
        ("any(_may_overlap(path, other) for other in self._written)", "not self._written"),
        ("step is None or there is None or step == there", "step == there"),
    ),
    "reduction/queues.py": (
        # Tests and statements that look at more than an end of a queue.
        ("if looks & ~oldest or (looks and end.appends):", "if looks < 0:"),
        ("is_true = all(tracer", "is_true = any(tracer"),
        ("return None if (others.reads | others.writes) & leaves else", "return None if not leaves else"),
    ),
    "check/reducing.py": (("if subject is not None and _has_next(subject.formula):", "if subject is None:"),),
    "ltl/stuttering.py": (
        # Claims that count steps: one move as two, two as one, and accepting states that are missed.
        ("    if direct != in_two:", "    if direct - in_two:"),
        ("    if direct != in_two:", "    if in_two - direct:"),
        ("for middle in direct & accepting for", "for middle in () for"),
        ("    if len(conditions) > _MOST_CONDITIONS:\n        return False\n", ""),
    ),
    "check/kept.py": (("if options.reduce is not Reduce.OFF:", "if False:"),),
    "codegen/properties.py": (
        # A cover goal that fails keeps others from being counted.
        ("if (unlikely(holds < 0)) status = FAILED;", "if (unlikely(holds < 0)) return FAILED;"),
        ('"if (status != OK) return status;"', '"(void)status;"'),
    ),
    "ir/interpreter.py": (
        ("                failure = failure or Failure(", "                return Failure("),
        # Goals that fail are not seen behind a false invariant.
        (
            "for each, arguments, truth in self._evaluate(PropertyKind.COVER, state):\n"
            "            if isinstance(truth, Fault):\n                yield",
            "for each, arguments, truth in ():\n            if isinstance(truth, Fault):\n                yield",
        ),
    ),
    "check/conclusion.py": (
        # Faults that hide behind others, and what is said of properties then.
        ("for number, finding in enumerate(findings if most > 1 else ()):", "for number, finding in enumerate(()):"),
        (
            "return outcome.stop is Stop.COMPLETE and not is_full and not is_late",
            "return outcome.stop is Stop.COMPLETE",
        ),
    ),
}
