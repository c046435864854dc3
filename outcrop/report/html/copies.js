// A trace as text that leaves the page: as `outcrop check` prints it, as Murphi, and as JSON.

const STUTTER = "(nothing is enabled)"; // the label of a step that leaves a deadlock as it is

function firedText(kind, label) {
  if (label === STUTTER) return "Nothing is enabled, so the state repeats.";
  const isSaid = label.toLowerCase().startsWith(`${kind.toLowerCase()} `);
  return `${isSaid ? "" : `${kind} `}${label} fired.`;
}

function changeLines(nodes, changes) {
  return leavesOf(nodes).flatMap((leaf) => {
    const change = changes.get(leaf.path);
    if (!change) return [];
    if (leaf.bag) {
      return [...change.removed.map((each) => `${leaf.path}: removed ${each}`), ...change.added.map((each) => `${leaf.path}: added ${each}`)];
    }
    return [`${leaf.path}: ${change.was} -> ${change.now}`];
  });
}

// What is defined in a state. Elements of an array that are all alike take one line: votes[*][*]: false.
function startLines(nodes) {
  const leaves = nodes.flatMap((node) => foldedLeaves(node).map(([suffix, text]) => [node.name + suffix, text]));
  const lines = leaves.filter(([, text]) => text !== null).map(([name, text]) => `${name}: ${text}`);
  return lines.length < leaves.length ? [...lines, `(everything else is ${undefinedText(nodes)})`] : lines;
}

// [rest of the name, text or null] of each leaf.
function foldedLeaves(node) {
  if (node.bag) return [["", `{${node.bag.join(", ")}}`]];
  if (!node.children) return [["", node.isUndefined ? null : node.text]];
  const parts = node.children.map(foldedLeaves);
  const isArray = node.children.length > 0 && node.children[0].name.startsWith("[");
  if (isArray && parts.length > 1 && parts.every((each) => JSON.stringify(each) === JSON.stringify(parts[0]))) {
    return parts[0].map(([suffix, text]) => [`[*]${suffix}`, text]);
  }
  return parts.flatMap((part, index) => part.map(([suffix, text]) => [`${isArray ? "" : "."}${node.children[index].name}${suffix}`, text]));
}

// The output of a step, marked as such.
function printedLines(text) {
  if (!text) return [];
  return text.replace(/\n$/, "").split("\n").map((line, at) => `${at ? " ".repeat(8) : "prints: "}${line}`.trimEnd());
}

// The step that leads from the last state of a lasso back to the start of its cycle.
function closingLines(steps, loop, margin) {
  if (loop.rule === null) return [];
  const [last, first] = [steps[steps.length - 1].nodes, steps[loop.start].nodes];
  const head = `${" ".repeat(margin)}  ${firedText("Rule", loop.rule).replace(/\.$/, "")}: back to ${loop.start}.`;
  const rows = [...changeLines(first, changesOf(last, first)), ...printedLines(loop.printed)];
  return [head, ...rows.map((row) => " ".repeat(margin + 4) + row)];
}

// The text report of a trace. `loop` is null unless it is a lasso; `printed` is the output of a rule before it failed.
function traceText(steps, loop, ending, printed) {
  const margin = String(steps.length - 1).length;
  const last = steps.length - 1;
  const lines = steps.flatMap((step, number) => {
    const head = `${String(number).padStart(margin)}  ${firedText(number ? "Rule" : "Startstate", step.label)}`;
    const changes = number ? changeLines(step.nodes, step.changes) : startLines(step.nodes);
    const rows = number && !changes.length ? ["(nothing changes)"] : changes;
    const repeated = loop && (loop.start === last ? `state ${last} repeats` : `states ${loop.start} to ${last} repeat`);
    const mark = loop && number === loop.start ? [`--- the cycle starts here: ${repeated} forever ---`] : [];
    const truths = step.truths.length ? [`propositions: ${step.truths.map(([text, isTrue]) => (isTrue ? text : `!${text}`)).join(", ")}`] : [];
    return [...mark, head, ...[...rows, ...truths, ...printedLines(step.printed)].map((row) => " ".repeat(margin + 4) + row)];
  });
  return [...lines, ...(loop ? closingLines(steps, loop, margin) : []), ending, ...printedLines(printed).map((row) => `    ${row}`)].filter(Boolean).join("\n");
}

// --- Murphi -------------------------------------------------------------------------------------------------------

// The scalarsets that values of a type may come from.
function scalarsetsOf(type, found = new Map()) {
  if (!type) return found;
  if (type.kind === "scalarset") found.set(type.name, type.size);
  for (const inner of [type.index, type.element, ...(type.members || []), ...(type.fields || []).map((each) => each.type)]) {
    if (inner && typeof inner === "object") scalarsetsOf(inner, found);
  }
  return found;
}

function assignments(place, type, value, multisets) {
  if (type.kind === "record") {
    return type.fields.flatMap((each) => assignments(`${place}.${each.name}`, each.type, value[each.name], multisets));
  }
  if (type.kind === "array") {
    return value["#map"].flatMap(([index, element]) => assignments(`${place}[${simpleText(index)}]`, type.element, element, multisets));
  }
  if (type.kind === "multiset") {
    return value["#map"].flatMap(([element, count]) => {
      const local = multisets.get(type.element.text) || `element_${multisets.size + 1}`;
      multisets.set(type.element.text, local);
      const filled = [`undefine ${local};`, ...assignments(local, type.element, element, multisets)];
      return [...filled, ...Array(count).fill(`multisetadd(${local}, ${place});`)];
    });
  }
  return isUndefined(value) ? [] : [`${place} := ${simpleText(value)};`];
}

// A startstate that makes this state, to begin a model in that state. Murphi has no names for the values of
// scalarsets, so they are parameters that differ from one another.
function murphiText(document, trace, number) {
  const variables = variablesOf(document, trace);
  const state = trace.states[number];
  const locals = new Map();
  const body = variables.flatMap((each) => assignments(each.name, each.type, state[each.name], locals));
  const text = body.join("\n");
  const names = variables.reduce((found, each) => scalarsetsOf(each.type, found), new Map());
  const groups = [...names].filter(([name]) => name).map(([name, size]) => ({
    name,
    values: Array.from({ length: size }, (_, at) => `${name}_${at + 1}`),
  })).filter((group) => group.values.some((value) => new RegExp(`\\b${value}\\b`).test(text)));
  const differ = groups.flatMap(({ values }) => values.flatMap((one, at) => values.slice(at + 1).map((other) => `assume ${one} != ${other};`)));
  const declared = [...locals].map(([type, local]) => `  ${local}: ${type};`);
  const indent = groups.length ? "  " : "";
  const lines = [
    `startstate "step ${number} of a trace"`,
    ...(declared.length ? ["var", ...declared] : []),
    "begin",
    ...[...differ, ...body].map((line) => `  ${line}`),
    "end;",
  ].map((line) => indent + line);
  if (!groups.length) return `${lines.join("\n")}\n`;
  const parameters = groups.flatMap(({ name, values }) => values.map((value) => `${value}: ${name}`));
  return [`ruleset ${parameters.join("; ")} do`, ...lines, "end;", ""].join("\n");
}

// --- Out of the page ----------------------------------------------------------------------------------------------

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { readonly: true }, text); // where the page may not use the clipboard
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

// The command that opens the explorer at a step, with the options that the model was checked with.
function explorerCommand(result, step) {
  const options = result.options || {};
  const words = ["outcrop", "serve", result.model];
  for (const [name, value] of Object.entries(options.constants || {})) words.push("-D", `${name}=${value}`);
  for (const each of [options.invariants || []].flat()) words.push("--invariant", String(each));
  return [...words, "--load", "RESULT.json", "--step", String(step)].map(quoted).join(" ");
}
