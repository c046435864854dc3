// The report: its sections, made from the JSON document that the file carries.

const LEVEL_TABLE_FROM = 2;
const MOST_STEPPERS = 20;
const LEAST_SAMPLES = 4;

function figures(result) {
  const isRevisiting = result.states === null;
  const rows = [
    ["States", number(isRevisiting ? result.states_visited : result.states), isRevisiting ? "counting revisits" : ""],
    ["Rules fired", number(result.rules_fired)],
    ["Diameter", number(result.diameter)],
    ["Time", duration(result.seconds), result.compile_seconds >= 0.05 ? `and ${duration(result.compile_seconds)} to compile` : ""],
    ["Memory", bytes(result.peak_rss_bytes)],
    result.peak_disk_bytes ? ["Disk", bytes(result.peak_disk_bytes)] : null,
    ["State size", plural(result.state_bits, "bit")],
    ["Search", result.strategy, [result.engine, result.threads > 1 && plural(result.threads, "thread"), result.ranks > 1 && plural(result.ranks, "rank")].filter(Boolean).join(", ")],
    reductionRow(result.reduction),
  ];
  return h("dl", { class: "figures" }, rows.filter(Boolean).map(([name, value, note]) => h(
    "div", {}, h("dt", {}, name), h("dd", {}, value, note && [" ", h("small", {}, note)]),
  )));
}

function reductionRow(reduction) {
  if (!reduction || reduction.reason || !reduction.states) return null;
  const each = (count) => (count / reduction.states).toFixed(2);
  const share = Math.round((100 * reduction.reduced) / reduction.states);
  return ["Reduction", `${share}%`, `of the states left enabled rules out; on average, ${each(reduction.fired)} of ${each(reduction.enabled)} fired`];
}

// --- Violations ---------------------------------------------------------------------------------------------------

// The condition with its false parts.
function condition(given) {
  const parts = given.false;
  const isInnermost = ([from, to]) => !parts.some(([begin, end]) => from <= begin && end <= to && end - begin < to - from);
  const marks = parts.map((part) => [...part, isInnermost(part) ? "false innermost" : "false"]);
  const pieces = [...given.text.matchAll(/\n[ \t]*/g)].map((each) => ["", each.index, each.index + each[0].length]);
  return h("pre", { class: "condition" }, highlighted(pieces, given.text, 0, given.text.length, marks));
}

// One entry for each distinct fault: [violation, how often it was found].
function faultsOf(result) {
  const faults = result.faults || result.violations.map((_, violation) => ({ violation, count: 1 }));
  return faults.map((each) => [result.violations[each.violation], each.count]).filter(([violation]) => violation);
}

function faultIndex(faults) {
  if (faults.length < 2) return null;
  const steps = (violation) => (violation.trace ? violation.trace.states.length - 1 + (violation.failing_rule ? 1 : 0) : null);
  return section("Violations", h("ol", { class: "faults" }, faults.map(([violation, count], index) => h("li", {},
    h("a", { href: `#violation-${index + 1}` }, violation.message),
    h("span", { class: "soft" }, [count > 1 && `${number(count)} times`, steps(violation) !== null && plural(steps(violation), "step")].filter(Boolean).map((each) => ` · ${each}`).join(""))))));
}

function violationSection(result, [violation, count], index, faults, steppers) {
  const title = faults > 1 ? `Violation ${index + 1} of ${faults}` : "Violation";
  const parts = [h("p", {}, violation.message, count > 1 && h("span", { class: "soft" }, ` · found ${number(count)} times${result.reduction && !result.reduction.reason ? "" : "; this is one of the shortest traces"}`), violation.position && h("span", { class: "soft" }, " · ", linked(result.source, violation.position)))];
  if (violation.hint) parts.push(h("p", { class: "soft" }, `Hint: ${violation.hint}`));
  const formula = (result.properties || []).find((each) => each.kind === "ltl" && each.name === violation.property && each.formula);
  if (formula) parts.push(h("pre", { class: "condition" }, formula.formula));
  if (violation.condition) parts.push(condition(violation.condition));
  else if (!formula && violation.position && result.source && violation.position.file === result.source.file) parts.push(excerpt(result.source, violation.position, 2));
  for (const call of violation.calls || []) parts.push(h("p", { class: "soft" }, "in ", h("code", {}, call.function), ", called at ", linked(result.source, call.position)));
  if (violation.because && violation.because.length) {
    parts.push(h("ul", { class: "because" }, violation.because.map((each) => h("li", {}, h("code", {}, each)))));
  }
  if (violation.trace && violation.trace.states.length) {
    if (steppers.length < MOST_STEPPERS) {
      const made = stepper(result, violation);
      steppers.push(made);
      parts.push(...made.parts);
    } else {
      parts.push(h("p", { class: "soft" }, "Its trace is in the JSON document."));
    }
  } else if (violation.failing_rule) {
    parts.push(h("p", { class: "soft" }, `${violation.failing_rule} fails, before any rule fires.`));
    if (violation.printed) parts.push(h("pre", { class: "output" }, violation.printed));
  }
  const made = section(title, parts);
  if (faults > 1) made.id = `violation-${index + 1}`;
  return made;
}

// --- Levels -------------------------------------------------------------------------------------------------------

function levelSection(result) {
  const levels = result.levels;
  if (!levels.length) return null;
  const xs = levels.map((_, index) => index);
  const largest = levels.indexOf(Math.max(...levels));
  const parts = [
    h("p", { class: "soft" }, `${plural(levels.length, "level")}: all states that are equally far from a start state. The largest is level ${largest}, with ${plural(levels[largest], "state")}.`),
  ];
  if (levels.length < LEVEL_TABLE_FROM) return section("Levels", parts);
  parts.push(chart({ label: "States per level", xs, kind: "bars", xLabel: "level", yLabel: "new states", series: [{ name: "new states", role: "main", values: levels }] }));
  const duplicates = result.duplicates || [];
  const missed = result.missed;
  const found = levels.map((_, index) => (index + 1 < levels.length ? levels[index + 1] : duplicates[index] === null ? null : 0));
  if (duplicates.some((value) => typeof value === "number")) {
    const reallyNew = found.map((value, index) => (value === null ? null : value - (missed ? missed[index] || 0 : 0)));
    const series = [
      { name: missed ? "new" : "new, or taken for new", role: "main", values: reallyNew },
      { name: "visited before", role: "second", values: duplicates },
    ];
    if (missed && sum(missed)) series.push({ name: "revisits of evicted states", role: "third", values: missed });
    const generated = sum(duplicates) + sum(found);
    parts.push(
      h("h3", {}, "Successors"),
      h("p", { class: "soft" }, `${share(sum(duplicates), generated)} of the ${plural(generated, "successor")} were visited before.`,
        missed ? "" : " This search may revisit evicted states; it does not count how often."),
      chart({ label: "Successors per level", xs, kind: "bars", xLabel: "level", yLabel: "successors", series }),
    );
  }
  if (levels.length >= LEVEL_TABLE_FROM) parts.push(levelTable(levels, found, duplicates, missed));
  return section("Levels", parts);
}

function levelTable(levels, found, duplicates, missed) {
  const rows = levels.map((size, level) => ({ level, size, found: found[level], known: duplicates[level], missed: missed ? missed[level] : null }));
  const column = (name, key, title) => ({ name, title, isNumber: true, value: (row) => row[key] });
  const columns = [
    column("Level", "level"), column("States", "size"),
    column("New successors", "found", "successors of the states of this level that are the next level"),
    column("Known successors", "known", "successors of the states of this level that were visited before"),
  ];
  if (missed && sum(missed)) columns.push(column("Missed", "missed", "successors of the states of this level that were taken for new, but were not"));
  return h("details", { class: "more" }, h("summary", {}, "As a table"), table(columns, rows));
}

function share(part, whole) {
  return whole ? `${+((100 * part) / whole).toPrecision(3)}%` : "none";
}

// --- Resources ----------------------------------------------------------------------------------------------------

function resourceSection(result) {
  const samples = result.samples;
  if (!samples || !samples.seconds || samples.seconds.length < LEAST_SAMPLES) return null;
  const line = (title, values, format, isBinary) => h("div", {}, h("h3", {}, title), chart({
    label: title, xs: samples.seconds, kind: "line", xLabel: "time", formatX: duration, formatY: format, isBinary, height: 170,
    series: [{ name: title, role: "main", values }],
  }));
  const parts = [line("Memory", samples.rss_bytes, bytes, true)];
  if (Math.max(...samples.disk_bytes) > 0) parts.push(line("Disk", samples.disk_bytes, bytes, true));
  parts.push(line("States", samples.states, brief, false));
  return section("Over time", h("div", { class: "charts" }, parts));
}

function localitySection(result) {
  const given = result.locality;
  if (!given || !Array.isArray(given.distances) || !given.distances.length) return null;
  const rows = [...given.distances].sort((a, b) => a.k - b.k);
  const percent = (value) => `${+(100 * value).toFixed(1)}%`;
  const shown = [
    h("p", { class: "soft" }, "Distances of the transitions of a state, in levels. A search that evicts old levels revisits only states far back.",
      typeof given.sum_avg === "number" ? ` ${percent(given.sum_avg)} lead to the level before, the same, or the next.` : ""),
    chart({
      label: "Share of a state's transitions by distance in levels", kind: "bars", xLabel: "levels on", xs: rows.map((row) => row.k), formatY: percent,
      series: [{ name: "share of a state's transitions, on average", role: "main", values: rows.map((row) => row.mean) }],
    })];
  return section("Locality", h("details", { class: "more" }, h("summary", {}, "Transition distances"), shown));
}

// --- Rules and properties -----------------------------------------------------------------------------------------

function ruleSection(result) {
  const rules = result.coverage || [];
  if (!rules.length) return null;
  const never = rules.filter((rule) => !rule.fired && !rule.subsumed);
  const most = Math.max(...rules.map((rule) => rule.fired));
  const has = (key) => rules.some((rule) => typeof rule[key] === "number");
  const columns = [
    { name: "Rule", value: (rule) => rule.name, show: (rule) => [rule.name, " ", rule.position && h("span", { class: "where" }, linked(result.source, rule.position, `line ${rule.position.line}`)), !rule.fired && !rule.subsumed && [" ", h("span", { class: "badge" }, "never fired")]] },
    { name: "Instances", isNumber: true, isMinor: true, value: (rule) => rule.instances, title: "combinations of parameter values" },
  ];
  if (has("enabled")) columns.push({ name: "Enabled", isNumber: true, value: (rule) => rule.enabled, title: "guards that were true, over all states" });
  columns.push({ name: "Fired", isNumber: true, value: (rule) => rule.fired, show: (rule) => measured(rule.fired, most), title: "bodies that ran to their end" });
  if (has("new")) columns.push({ name: "To new states", isNumber: true, value: (rule) => rule.new, title: "firings that led to a state that no shorter run reaches" });
  const until = result.verdict === "holds" ? "never fired" : "did not fire before the search ended";
  const notes = [h("p", { class: "soft" }, never.length
    ? [h("strong", {}, `${never.length} of ${plural(rules.length, "rule")} ${until}`), `: ${listed([...new Set(never.map((rule) => rule.name))])}.`]
    : rules.every((rule) => rule.fired) ? `All ${plural(rules.length, "rule")} fired.` : "All statements were executed; some rules are other ways through them.")];
  const idle = has("new") ? rules.filter((rule) => rule.fired && rule.new === 0) : [];
  if (idle.length) notes.push(h("p", { class: "soft" }, `${plural(idle.length, "rule")} fired, but only to states that shorter runs reach: ${listed(idle.map((rule) => rule.name))}.`));
  if (has("new")) notes.push(h("p", { class: "soft" }, "\u201cTo new states\u201d counts firings; several may lead to the same new state."));
  const isRuns = (result.properties || []).some((each) => each.kind === "ltl");
  if (!has("enabled")) {
    notes.push(h("p", { class: "soft" }, isRuns
      ? "A search for runs does not count how often each rule is enabled and leads to new states."
      : "Check with --report or --coverage to count how often each rule is enabled and leads to new states."));
  }
  if (has("enabled") && !has("new")) notes.push(h("p", { class: "soft" }, "Only a search with all levels in RAM, such as ram, knows which firings led to new states."));
  return section("Rules", notes, table(columns, rules));
}

function listed(names) {
  return names.length > 12 ? `${names.slice(0, 12).join(", ")}, and ${names.length - 12} more` : names.join(", ");
}

function unreachedSection(result) {
  const texts = (result.unreached || []).filter((text) => text.places.length);
  if (!texts.length) return null;
  const until = result.verdict === "holds" ? "" : " before the search ended";
  const parts = texts.map((text) => [
    h("p", {}, h("span", { class: "mono" }, text.process), h("span", { class: "soft" }, `: ${text.places.length} of ${plural(text.states, "state")}, which no process reached${until}`)),
    h("ul", {}, text.places.map((place) => h("li", {}, linked(result.source, place.position), h("span", { class: "soft" }, ` state ${place.state} `), h("code", {}, place.statements.join("; "))))),
  ]);
  return section("Unreached code", parts);
}

function propertySection(result) {
  const properties = result.properties || [];
  if (!properties.length) return null;
  const status = (each) => (each.status === "violated" ? h("span", { class: "badge violated" }, "violated") : each.status === "holds" ? h("span", { class: "good" }, "holds") : each.status);
  return section("Properties", table([
    { name: "Property", value: (each) => each.name, show: (each) => [each.name, " ", each.position && h("span", { class: "where" }, linked(result.source, each.position, `line ${each.position.line}`))] },
    { name: "Kind", value: (each) => each.kind },
    { name: "Status", value: (each) => each.status, show: (each) => [each.met > 0 && each.status === "unknown" ? "met" : status(each), each.met > 0 && ` (${number(each.met)} times)`, each.vacuous && each.vacuous.length > 0 && [", vacuously: never ", h("code", {}, each.vacuous.join("; "))]] },
  ], properties));
}

// The settings that repeat the check, and that identify the model.
function conditionRows(result) {
  const shown = (value) => (value === null ? "none" : typeof value === "object" ? JSON.stringify(value) : String(value));
  const options = Object.entries(result.options || {}).map(([name, value]) => `${name} = ${shown(value)}`);
  const symmetry = result.symmetry || {};
  return [
    ["Command", result.command && result.command.map(quoted).join(" ")],
    ["Options", options.join(",  ")],
    ["Fairness", result.fairness && (result.fairness === "none" ? "none: formulas are about all runs" : `${result.fairness}: formulas are about ${result.fairness}ly fair runs`)],
    ["Symmetry", "asked" in symmetry && (symmetry.used ? "used" : symmetry.asked ? "on, but nothing was reduced" : "off")],
    ["Date", result.date],
    ["Outcrop", result.version],
    ["C compiler", result.compiler],
    ["SHA-256 of the model", result.model_sha256],
  ].filter(([, value]) => value);
}

function runSection(result) {
  const constants = Object.entries(result.constants || {});
  const conditions = conditionRows(result);
  const parts = [];
  if (conditions.length) {
    parts.push(h("h3", {}, "How it was checked"), conditions.map(([name, value]) => h("p", {}, h("span", { class: "soft" }, `${name}: `), h("span", { class: "mono" }, value))));
  }
  if (constants.length) {
    parts.push(h("h3", {}, "Constants"), h("p", { class: "mono" }, constants.map(([name, value]) => `${name} = ${value}`).join(",  ")));
  }
  if (result.events && result.events.length) parts.push(h("h3", {}, "Events"), result.events.map((event) => h("p", {}, event)));
  if (result.notes && result.notes.length) {
    parts.push(h("h3", {}, "Notes"), result.notes.map((note) => h("p", {}, `${note.severity}: ${note.message}`, note.position && h("span", { class: "soft" }, " · ", linked(result.source, note.position)), note.hint && h("span", { class: "soft" }, ` (${note.hint})`))));
  }
  return parts.length ? section("The check", parts) : null;
}

function sourceSection(result) {
  if (!result.source) return null;
  return section("Source", h("details", { class: "more" }, h("summary", {}, result.source.file), sourceView(result.source, "line").element));
}

function main() {
  const result = JSON.parse(document.getElementById("document").textContent);
  const steppers = [];
  const faults = faultsOf(result);
  const violations = [faultIndex(faults), ...faults.map((each, index) => violationSection(result, each, index, faults.length, steppers))];
  const sections = [
    figures(result), ...violations, propertySection(result), unreachedSection(result), ruleSection(result), levelSection(result),
    resourceSection(result), localitySection(result), runSection(result), sourceSection(result),
  ];
  document.getElementById("report").replaceChildren(...sections.filter(Boolean));
  steppers.forEach((each) => each.scroll());
  listenForKeys(steppers);
}

main();
