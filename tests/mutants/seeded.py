"""Seeded bugs: each a small, plausible mistake in a kernel, a strategy, a store or the emitter.

A mutant replaces a text that occurs once in its file. None of them is a matter of taste or of speed: each makes some
search give a wrong result, lose data that it must keep, or exceed a limit.
"""

from __future__ import annotations

from dataclasses import dataclass

from seeded_reduction import REDUCTION


@dataclass(frozen=True)
class Mutant:
    path: str  #: relative to the package
    text: str
    instead: str


def _of(path: str, *pairs: tuple[str, str]) -> list[Mutant]:
    return [Mutant(path, text, instead) for text, instead in pairs]


MUTANTS = [
    *_of(
        "native/table.c",
        ("if (states_equal(view.states + index * STATE_BYTES, state)) return index;", "return index;"),
        ("tag | (*room + 1), shared)", "tag | *room, shared)"),
        ("    room += is_this_new;", "    room += 1;"),
        ("bit_length(table->limit + slack + 1);", "bit_length(table->limit / 4);"),
        (
            "(hash << table->index_bits & tag_mask) | (at - AHEAD + 1);",
            "(hash << table->index_bits & tag_mask) | (at - AHEAD);",
        ),
        (
            "((uint32_t *)line)[number] = (uint32_t)(tag | (to + 1));",
            "((uint32_t *)line)[number] = (uint32_t)(tag | to);",
        ),
        ("    } else if (!room) {\n      return UINT64_MAX;", "    } else if (!room) {\n      return 0;"),
        ("is_new[done] = is_this_new;", "is_new[done] = 1;"),
    ),
    *_of(
        "native/lines.h",
        (
            "return wide ? look_wide((const uint64_t *)line, mask, wanted)",
            "return wide ? look_wide((const uint64_t *)line, mask, wanted + 1)",
        ),
        ("((Eight)(high < past), all) << 8;", "((Eight)(high < past), all) << 7;"),
    ),
    *_of(
        "native/signatures.c",
        ("  return hash >> (64 - signatures->bits);", "  return hash >> (64 - signatures->bits + 6);"),
        ("uint64_t home = (number + shape->line_count - distance) % shape->line_count;", "uint64_t home = number;"),
        ("uint64_t entry = fraction | (distance + 1);", "uint64_t entry = fraction | 1;"),
        (
            "(uint64_t)((scaled + shape->line_count - 1) / shape->line_count);",
            "(uint64_t)(scaled / shape->line_count);",
        ),
        ("if (is_new[done]) memcpy(arena_state", "if (1) memcpy(arena_state"),
    ),
    *_of(
        "native/level.c",
        ("    memcpy(context, worker->before, COUNTED_BY_RULE);\n    worker->generated", "    worker->generated"),
        ("if (search->visited->moved) search->visited->moved(", "if (0) search->visited->moved("),
        ("while ((behind = first_hole(search, from - 1, from)) != NULL) from = behind->next;", "(void)behind;"),
        ("|| anything_found(search)) return 0;", ") return 0;"),
        ("if (successor_assumed(state, expansion->context)) successor_keep(expansion);", "successor_keep(expansion);"),
        ("failures += status == FAILED;", "failures += 0;"),
        ("continue;\n    if (kept != i) {", "continue;\n    if (0) {"),
    ),
    *_of(
        "native/visited.c",
        ("if (hole->next > begin) table_enter(", "if (0) table_enter("),
        ("if (reserved <= search->visited->limit(search)) return 1;", "return 1;"),
    ),
    *_of(
        "native/adding.c",
        ("bytes > search->budget && !search->visited->has_own_memory", "0"),
    ),
    *_of(
        "native/bitstate.c",
        ("    missing += !sets ||", "    return !sets ||"),
        ("    hash = bitstate_rehash(hash);\n", ""),
        ("  while (__atomic_test_and_set(lock, __ATOMIC_ACQUIRE)) pause_briefly();\n", ""),
    ),
    *_of(
        "native/paths.c",
        (
            "memcmp(predecessor, least, MODEL_BYTES) >= 0) continue;",
            "memcmp(predecessor, least, MODEL_BYTES) <= 0) continue;",
        ),
        (
            "if (count == 1 && step.found && memcmp(state, least, MODEL_BYTES) >= 0) continue;",
            "if (count == 1 && step.found) continue;",
        ),
    ),
    *_of(
        "native/liveness.c",
        ("__ATOMIC_RELAXED)) marking->changes++;", "__ATOMIC_RELAXED)) marking->changes += 0;"),
        (
            "if (marks[own_position(search, index)] & bit) continue;",
            "if (marks[own_position(search, index)] & 1) continue;",
        ),
        ("if (from == UINT64_MAX) continue;", "continue;"),
    ),
    *_of(
        "native/findings.c",
        ("if (order == 0) return;", ""),
        ("if (order < 0)", "if (order > 0)"),
    ),
    *_of(
        "native/expand.h",
        ("expansion->failed |= status == FAILED;", ""),
        (
            "if (!expansion->moved) expansion->moved = memcmp(successor, state, STATE_BYTES) != 0;",
            "expansion->moved = 1;",
        ),
        ("expansion->context->fired[rule]++;", "expansion->context->fired[rule] += expansion->moved;"),
    ),
    *_of(
        "native/cache.c",
        ("return memcmp(kept, rest, STATE_REST_BYTES) == 0;", "return 1;"),
        ("  batch->collisions++;\n", ""),
        ("is_new[number++] = outcome == ENTRY_NEW;", "is_new[number++] = outcome == ENTRY_OLD;"),
        (
            "while ((before = __atomic_fetch_or(bucket, BUCKET_LOCKED, __ATOMIC_ACQUIRE)) & BUCKET_LOCKED)",
            "if (!(before = *bucket))",
        ),
        ("difference |= kept_word(cache, kept, part) ^ rest_word(rest, part);", ""),
    ),
    *_of(
        "native/cached.c",
        (
            "(uint64_t)((scaled + old->bucket_count - 1) / old->bucket_count)",
            "(uint64_t)(scaled / old->bucket_count)",
        ),
        ("rest_get(old, bucket_rest(old, bucket, place), kept);", ""),
        ("chunk->next < chunk->end && !grow_cache(worker, count - done)", "chunk->next < chunk->end"),
        ("__atomic_store_n(&search->gives_up, 1, __ATOMIC_RELAXED);", ""),
    ),
    *_of(
        "native/dictionary.c",
        ("if (dictionary->words[number - 1] == word) return number - 1u;", "return number - 1u;"),
    ),
    *_of(
        "native/memory_table.c",
        ("if (keys_equal(table, table->keys + slot * table->key_bytes, key)) return slot;", "return slot;"),
        ("table->filter[bit / 8] |= (uint8_t)(1 << bit % 8);", ""),
        ("number < count && table->count < table->limit; number++", "number < count; number++"),
        (
            "__atomic_exchange_n(&table->tags[slot], TAG_REMOVED, __ATOMIC_RELAXED) != TAG_REMOVED;",
            "__atomic_exchange_n(&table->tags[slot], TAG_NONE, __ATOMIC_RELAXED) != TAG_REMOVED;",
        ),
    ),
    *_of(
        "explorer/paths.py",
        ("step[state] = min(candidates)", "step[state] = max(candidates)"),
        ("for step in steps[deepest - level :]:", "for step in steps:"),
    ),
    *_of(
        "search/locality.py",
        ("if taken < len(states):  # M is full", "if False:"),
        ("not_in_cloud = sorted(set(range(self.D.block_count)) - set(disk_cloud))", "not_in_cloud = []"),
        ("            self.D.append(keys)\n", ""),
        (
            "self.disk_cloud_size = min(1.0, (1 + self._options.speedup) * self.disk_cloud_size)",
            "self.disk_cloud_size = min(1.0, (1 - self._options.speedup) * self.disk_cloud_size)",
        ),
    ),
    *_of(
        "explorer/disk_table.py",
        (
            "for number in range(block * each, min((block + 1) * each, end))",
            "for number in range(block * each, min((block + 1) * each - 1, end))",
        ),
    ),
    *_of("search/cached.py", ("        if T.gives_up:", "        if False:")),
    *_of("explorer/cache_table.py", ("return self._cache.has_forgotten", "return False")),
    *_of(
        "explorer/visited.py",
        ("return -math.expm1(log_found)", "return math.expm1(log_found)"),
    ),
    *_of(
        "store/blockfile.py",
        ("if checksum(data) != expected:", "if False:"),
        ("magic != _MAGIC or its_number != number or length != len(data)", "magic != _MAGIC or length != len(data)"),
    ),
    *_of(
        "store/checkpoint.py",
        (
            "                scratch.replace(path)\n",
            "                path.write_bytes(content)\n                scratch.unlink()\n",
        ),
    ),
    *_of(
        "store/workdir.py",
        ("        if error.errno in _FULL:\n", "        if False:\n"),
    ),
    *_of(
        "native/owcty.c",
        ("if ((before & PREDECESSORS) == 1 && remove_from_s", "if ((before & PREDECESSORS) <= 2 && remove_from_s"),
        ("int is_accepting = before & ACCEPTING && before & IN_S;", "int is_accepting = 0;"),
        ("if (cycles->strength == TERMINAL_AUTOMATON) found_cycle(worker, state);", ""),
    ),
    *_of(
        "native/block_file.c",
        ("header.checksum == block_checksum(data, length)", "1"),
        ("sums[words] += last;", ""),
    ),
    *_of(
        "native/fair.c",
        ("is_unfair_to(graph, graph->edges[i].mover, part, count) ||", ""),
        ("if (!kept || !has_accepting(search, graph->waiting + first, kept)) return;", "return;"),
        ("graph->offers[set].count == count;", "graph->offers[set].count > 0;"),
        ("if (target > graph->states) target = graph->states;", "if (target > graph->states) target = 0;"),
    ),
    *_of(
        "native/owcty_compact.c",
        ("if (states_equal(state, compacted->target)) __atomic_store_n", "__atomic_store_n"),
        ("else if (before == 1 && !carry_look(", "else if (before <= 2 && !carry_look("),
    ),
    *_of(
        "native/ndfs.c",
        ("if (dfs->blue.depth && colour != RED) dfs->blue.frames[dfs->blue.depth - 1].all_red = 0;", ""),
        (
            "if (colour == CYAN && (is_accepting_state(search, top->state) || is_accepting_state(search, next)))",
            "if (colour == CYAN)",
        ),
    ),
    *_of(
        "native/product.h",
        ("if (!expansion->enabled && !expansion->failed) successor_stutter(expansion, state);", ""),
    ),
    *_of(
        "native/canon.h",
        ("if (found == relations->count) return 0;", ""),
        ("if (one[word] != other[word]) return one[word] < other[word] ? -1 : 1;", "if (0) return 0;"),
    ),
    *_of(
        "native/layers.c",
        ("kept += !is_equal;", "kept++;"),
        ("kept += !work->is_old[at];", "kept++;"),
        ("if (after >= levels) continue;", "if (after > levels) continue;"),
    ),
    *_of(
        "native/spill.c",
        ("if (work->is_old[i]) set_known(search, candidate.index);", ""),
        ("} while ((!past || full) && line != first);", "} while (!past && line != first);"),
    ),
    *_of(
        "explorer/candidates.py",
        ("self.first = max(0, self.first - dropped)", "self.first = 0"),
    ),
    *_of(
        "explorer/delayed.py",
        ("self._count * each, self._count, begins, sums", "self._count * each, 0, begins, sums"),
    ),
    *_of(
        "native/route.c",
        (
            "uint32_t is_new = (uint32_t)(found == PLACE_EMPTY) | (uint32_t)!packed_equal(place + 1, state);",
            "uint32_t is_new = (uint32_t)(found == PLACE_EMPTY);",
        ),
        ("multiply_high((hash >> route->shift) * 0x9E3779B97F4A7C15ull", "multiply_high(hash * 0x9E3779B97F4A7C15ull"),
    ),
    *_of(
        "native/messages.c",
        ("at = bytes + __builtin_popcountll(masks);", "at = bytes + __builtin_popcount((uint32_t)masks);"),
        ("masks &= words ? UINT64_MAX >> 8 * (MASKED_WORDS - words) : 0;", ""),
    ),
    *_of(
        "native/exchange.c",
        (
            "return states > search->visited->limit(search) && search->visited->can_grow(search);",
            "return states > search->visited->limit(search);",
        ),
    ),
    *_of(
        "native/sampled.c",
        ("(uint64_t)((Wide)arena->used * share / all)", "(uint64_t)((Wide)arena->used * share / all / 2)"),
    ),
    *_of(
        "dist/owners.py",
        ("_count(changes | self._changed).max(axis=-1)", "_count(changes | self._changed).mean(axis=-1)"),
        ("for each in self._sums:", "for each in self._sums[:1]:"),
    ),
    *_of("dist/merging.py", ("sorted({note for each in outcomes for note in each.noted})", "own.noted")),
    *_of(
        "dist/rounds.py",
        (
            "        self.send(worker, everything=True)\n        with self._guard:\n            self._done.add",
            "        self.send(worker)\n        with self._guard:\n            self._done.add",
        ),
    ),
    *_of(
        "ltl/acceptance.py",
        (
            "if not any(where < other for other in made)]",
            "if not any(where > other for other in made)]",
        ),
    ),
    *_of(
        "trace/replay.py",
        ("if state == target or canonical(state) == target:", "if state == target:"),
    ),
    *_of(
        "native/squeeze.c",
        ("filling = bits >> 1 >> (63 - place);", "filling = 0;"),
        ("if (later && !squeeze_later(squeeze, changes, words)) return 0;", ""),
        ("words[piece->place / 64 + 1] |= bits >> 1 >> (63 - piece->place % 64);", ""),
    ),
    *_of(
        "native/carry.c",
        ("context->fired[rule] = fired[rule];", "context->fired[rule] = 0;"),
        ("  search->cursor = cursor;\n", "  search->cursor = level_begin;\n"),
    ),
    *_of(
        "explorer/squeezing.py",
        ("    new.check_block(0, new.kept_form(left[is_new]))\n", ""),
        (
            "form = widened(form_of(search, used, self._tuning, explorer.parallel), left, self._tuning)",
            "form = form_of(search, 0, self._tuning)",
        ),
        ("for to in [*ends[1:-1], unexpanded, end]:", "for to in [*ends[1:-1], end, end]:"),
        ("and len(search.misfits()) > 0", "and search.standing().stop == 5"),
    ),
    *_of(
        "explorer/ram_then_disk.py",
        ("            past_ram.store.check_files()\n", ""),
        ("        explorer.on_stop_check.append(self._check_width)\n", ""),
    ),
    *_of(
        "explorer/snapshot.py",
        ("            self._restore_counts(explorer)\n", ""),
        ("frozenset(note for each in own for note in each.noted)", "frozenset()"),
        ("for kind, state, level, liveness in manifest.found:", "for kind, state, level, liveness in []:"),
    ),
    *_of(
        "explorer/workers.py",
        ("        if failures:\n", "        if len(failures) == len(tasks):\n"),
        ("            for _ in range(left):\n                ended.acquire()\n", ""),
    ),
    *_of(
        "explorer/layer_store.py",
        ("if each == level >= self._pending_from:", "if False:"),
    ),
    *_of(
        "codegen/blocks.py",
        ("if self._leaving.isdisjoint(parts):", "if parts:"),
        ("end = max([end, at, *(last[each] for each in some)])", "end = at"),
        ("_only(before[only]) == part", "only"),
    ),
    *_of("codegen/rules.py", ("code.rule.guard is not None and not is_observable(unit, code.rule.guard)", "code")),
    *_of("codegen/expressions.py", ("|| ({mark} = 1)))", "|| ({mark} = 0, 1)))")),
    *_of(
        "codegen/properties.py",
        ("if (CALL == 1) MARK = 1;", "if (CALL) MARK = 1;"),
    ),
    *_of("explorer/blocks.py", ("hashes), block[expanded:]", "hashes), block[:0]")),
    *_of("native/blocks.c", ("worker->gathered.count + worker->expansion.count < most", "most")),
    *_of("codegen/identity.py", ('"; ".join(each.text for each in load.invariants) or None', "None")),
    *_of(
        "native/visited.c",
        ("states_before_disk = {IN_FULL, .carry = states_carry}", "states_before_disk = {IN_FULL}"),
        (".forgets = 1, .is_tentative = 1}", ".forgets = 1}"),
    ),
    *_of(
        "explorer/snapshot.py",
        ("        stays=False,\n", ""),
        ("everyone=explorer.exchange.gather(manifest),", "everyone=[manifest],"),
    ),
    *_of(
        "lang/registry.py",
        ("        if each not in taken:\n", "        if each not in OPTIONS:\n"),
    ),
    *_of(
        "reduction/tables.py",
        # Instances that write what an enabled one reads; those that read what it writes.
        ("for leaf in bits(each.effects.reads | each.effects.writes):", "for leaf in bits(each.effects.writes):"),
        ("reading |= readers[leaf] & ~self._opposite(each, leaf)", "reading |= 0"),
        ("(reading & ~self.failing_conflicts[each.number])", "(reading & ~self.conflicts[each.number])"),
        # What properties read.
        ("            if each.effects.writes & group:", "            if False:"),
        # Guards that may fail before the false conjunct.
        ("                    failing = earlier", "                    failing |= conjunct.reads"),
        ("wanted = conjunct.unless_false.get(leaf)", "wanted = conjunct.demands.get(leaf)"),
        # Enabling sets.
        ("                if demanded >> value & 1:", "                if not demanded >> value & 1:"),
        ("each.otherwise = self.writers_of(each.guard_reads)", "each.otherwise = 0"),
    ),
    *_of(
        "reduction/guards.py",
        ("return both(left, right) if are_both else _either(left, right)", "return both(left, right)"),
    ),
    *_of(
        "reduction/effects.py",
        # The reads of an index are lost.
        (
            "        location = self.place(node)  # before the sum below is loaded, since indices are reads as well\n"
            "        self.effects.reads |= self.leaves(location, node.type)",
            "        self.effects.reads |= self.leaves(self.place(node), node.type)",
        ),
        ("case MultisetCount():\n                self.read(node.place)", "case MultisetCount():"),
        ("        return mask_of(location.starts, kind.leaf_count)", "        return mask_of(location.starts[:1], 1)"),
    ),
    *_of(
        "reduction/ranking.py",
        ("if one.value(parameters) > 0)", "if one.value(parameters) >= 0)"),
    ),
    *_of(
        "reduction/weights.py",
        ("return gain if term.is_certain or gain < 0 else 0", "return gain"),
    ),
    *_of(
        "reduction/boxes.py",
        # Values that are no longer known; guards that fail.
        ("if each.assumed & changed]", "if False]"),
        ("permitted = each.unless_false[leaf]", "permitted = each.demands.get(leaf, -1)"),
    ),
    *_of(
        "reduction/instances.py",
        ("        if not written:\n", "        if written is not None:\n"),
    ),
    *_of(
        "reduction/prepare.py",
        ("ascending(relations, dependents, effort) & ~visible", "ascending(relations, dependents, effort)"),
    ),
    *_of(
        "reduction/interpreted.py",
        ("if chosen != active and not any(", "if False and not any("),
    ),
    *_of(
        "native/stubborn.h",
        (
            "  if (!fire_set(state, expansion, phase, &chosen) && best < enabled) {",
            "  if (fire_set(state, expansion, phase, &chosen) && best < enabled && 0) {",
        ),
        ("best > 1 && !failed; word++)", "best > 1; word++)"),
    ),
    *_of(
        "native/observe.c",
        ("depth < observation->gap", "depth <= observation->gap"),
        ("line->goes_deeper && has_instance(observation->hidden, instance)", "line->goes_deeper"),
        ("if (line_names(line, instance) && line_shows", "if (line_shows"),
        ("way & OBSERVE_STAY && line_shows", "line_shows"),
    ),
    *_of(
        "native/quotient.c",
        # A remainder that is a bit too short; a key that is not given back.
        ("table->dropped_bits = bit_length(line_count) - 1;", "table->dropped_bits = bit_length(line_count);"),
        ("const Wide least = scaled + table->line_count - 1;", "const Wide least = scaled;"),
        # Two threads enter the same root.
        ("if (shared && !__atomic_compare_exchange_n(", "if (0 && !__atomic_compare_exchange_n("),
        # Keys that growth has lost.
        ("growth->aside_count, 0) && !growth->lost;", "growth->aside_count, 0) | 1;"),
    ),
    *_of(
        "native/folding.c",
        # A node compared without its second half.
        ("count += known->pair != pair;", "count += (uint32_t)(known->pair ^ pair) != 0;"),
    ),
    *_of(
        "native/tree.c",
        # A leaf with bytes of the next one.
        ("return value & shape->leaf_mask[leaf];", "return value;"),
    ),
    *_of(
        "native/compressed.c",
        # Nodes that growth has lost; a root in the table for wider ones.
        ("if (hole->next > begin) table_enter(", "if (0) table_enter("),
        ("return (uint64_t)left << *table | right;", "return (uint64_t)left << LEAST_NUMBER_BITS | right;"),
    ),
    *_of(
        "reduction/folding.py",
        # A sum that overflows has a value.
        ("return value if abs(value) < _LARGE else None", "return value"),
    ),
    *_of("trace/switches.py", ("run.rank < known[key].rank", "run.place < known[key].place")),
    *_of("native/paths.c", ("begin += BLOCK_STATES, step.marks += BLOCK_STATES", "begin += BLOCK_STATES")),
    *(each for path, pairs in REDUCTION.items() for each in _of(path, *pairs)),
]
