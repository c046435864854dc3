// The stepper of a trace: a list of steps, and the state after the one that is chosen, with what it changed.

const OPEN_UP_TO = 60; // leaves of a state that is shown whole at first
const FOLDED_FROM = 5; // neighbours in a larger one that stay as they are
const STEPS_SHOWN = 400; // of a long trace, around the one chosen
const LONGEST_PRINT = 600; // lines
const SWIPE = 60; // pixels

function stepsOf(result, trace) {
  const variables = variablesOf(result, trace);
  const nodes = trace.states.map((state) => nodesOf(variables, state));
  return trace.states.map((state, number) => ({
    label: String((state["#meta"] || {}).rule || ""),
    nodes: nodes[number],
    changes: changesOf(nodes[number - 1], nodes[number]),
    truths: Object.entries((state["#meta"] || {}).propositions || {}), // of a formula's propositions
    printed: String((state["#meta"] || {}).printed || ""),
  }));
}

// Of a lasso, the step at which its loop starts and the rule that closes it; null for a trace that ends.
function loopOf(trace) {
  const start = [trace.loop_start, trace.loop].find((each) => Number.isInteger(each) && each >= 0 && each < trace.states.length);
  const meta = trace["#meta"] || {};
  return start === undefined ? null : { start, rule: meta.closing_rule ?? null, printed: String(meta.closing_printed || "") };
}

function endingOf(violation, loop) {
  const message = violation.message.replace(/\.+$/, "");
  if (violation.failing_rule) return `Then ${firedText("Rule", violation.failing_rule).replace(/ fired\.$/, "")}: ${message}.`;
  return loop === null ? `Here: ${message}.` : `This cycle repeats forever: ${message}.`;
}

// A rule's label with its parameters in another voice.
function labelled(label) {
  const cut = label.indexOf(", ");
  return cut < 0 ? label : [label.slice(0, cut), " ", h("code", { class: "soft" }, label.slice(cut + 2))];
}

function stepper(result, violation) {
  const trace = violation.trace;
  const steps = stepsOf(result, trace);
  const loop = loopOf(trace);
  const ending = endingOf(violation, loop);
  const last = steps.length - 1;
  const isSmall = leavesOf(steps[0].nodes).length <= OPEN_UP_TO;
  const opened = new Map(); // by path, what the reader has opened or closed
  let at = last;
  let query = "";
  let hits = new Set();

  const list = h("ol", { class: "steps", "aria-label": "Steps" });
  list.style.setProperty("--number", `calc(${Math.max(2, String(last).length)}ch + 1.3rem)`);
  const place = h("span", { class: "place", "aria-live": "polite" });
  const slider = h("input", { type: "range", min: 0, max: last, "aria-label": "Step", oninput: () => go(Number(slider.value)) });
  const back = h("button", { type: "button", class: "control", "aria-label": "Previous step", onclick: () => go(at - 1) }, "←");
  const forth = h("button", { type: "button", class: "control", "aria-label": "Next step", onclick: () => go(following()) }, "→");
  const rule = h("p", { class: "rule" });
  const search = h("input", { type: "search", placeholder: "Search names and values", "aria-label": "Search names and values", oninput: () => find(search.value) });
  const only = h("input", { type: "checkbox", onchange: () => show() });
  const tree = h("div", { class: "tree" });
  const truths = h("p", { class: "truths" });
  const end = h("p", { class: "ending" }, loop !== null && [
    h("strong", {}, loop.rule === null ? `Back to step ${loop.start}. ` : `${firedText("Rule", loop.rule).replace(/\.$/, "")}: back to step ${loop.start}. `),
  ], ending);
  const output = h("pre", { class: "output", "aria-label": "What this step prints" });
  const lastOutput = h("pre", { class: "output", "aria-label": "What is printed before the end" }, loop === null ? violation.printed : loop.printed);
  const said = h("span", { "aria-live": "polite" });
  const whole = h("div", {}, h("div", { class: "tools" }, search, h("label", { class: "check" }, only, "Only what changed")), tree);
  const contexts = violation.steps && violation.steps.length === steps.length ? violation.steps : null;
  const source = contexts && result.source ? sourcePanel(result.source, violation, contexts, last) : null;
  const next = contexts && contexts.some((each) => each.enabled) ? nextPanel(contexts, steps, loop, violation) : null;
  const panels = [source && ["Source", source.element, () => source.show(at)], next && ["What could happen next", next.element, () => next.show(at)]].filter(Boolean);
  const around = panels.length > 0 && h("div", { class: "around" }, tabs(panels), panels.map((each) => each[1]));
  const state = h("div", { class: "state", tabindex: "0", "aria-label": "State after this step" },
    rule, truths, whole, output, end, lastOutput);
  const drawing = violation.chart && violation.chart.lanes.length > 1 ? messageChart(violation.chart, (step) => go(step)) : null;
  const values = h("details", { class: "more" }, h("summary", {}, "All values over all steps"));
  let table = null; // the matrix, made when it is first looked at
  values.addEventListener("toggle", () => {
    if (!values.open) return;
    if (!table) {
      table = matrix(steps, (step) => go(step));
      values.append(table.element);
    }
    table.show(at);
  });
  const root = h("div", { class: ["stepper", drawing && "has-chart", around && "has-source"].filter(Boolean).join(" ") },
    h("div", { class: "controls" }, back, forth, slider, place),
    drawing && h("div", { class: "charted" }, drawing.element),
    list, state, around, last > 0 && h("div", { class: "values" }, values),
    h("div", { class: "keys" }, h("kbd", {}, "←"), " ", h("kbd", {}, "→"), " step, ", h("kbd", {}, "Home"), " ", h("kbd", {}, "End"), " first and last, ", h("kbd", {}, "/"), " search"),
    h("div", { class: "copy" }, "Copy", copyButtons(), said));

  const following = () => (at === last && loop !== null ? loop.start : at + 1);

  function go(step, isQuiet) {
    at = Math.max(0, Math.min(last, step));
    show(isQuiet);
  }

  function show(isQuiet) {
    place.textContent = `${at} of ${last}`;
    slider.value = at;
    back.disabled = at === 0;
    forth.disabled = at === last && loop === null;
    forth.textContent = at === last && loop !== null ? `↺ ${loop.start}` : "→";
    rule.replaceChildren(h("span", { class: "soft" }, at ? `Step ${at}: ` : "Step 0: startstate "),
      ...(steps[at].label === STUTTER ? ["nothing is enabled, so the state repeats"] : [at ? h("span", { class: "soft" }, "rule ") : "", labelled(steps[at].label)].flat()));
    truths.replaceChildren(...steps[at].truths.map(([text, isTrue]) => h("code", { class: isTrue ? "true" : "" }, isTrue ? text : `!${text}`)));
    truths.hidden = !steps[at].truths.length;
    output.textContent = steps[at].printed;
    output.hidden = !steps[at].printed;
    end.hidden = at !== last;
    lastOutput.hidden = at !== last || !lastOutput.textContent;
    showTree();
    showList(isQuiet);
    if (drawing) drawing.show(at, isQuiet, hits);
    if (source && !source.element.hidden) source.show(at);
    if (next && !next.element.hidden) next.show(at);
    if (table && values.open) table.show(at);
  }

  // --- The state ---------------------------------------------------------------------------------------------------

  function showTree() {
    const step = steps[at];
    const rows = renderAll(step.nodes, step.changes, "");
    tree.replaceChildren(...(rows.length ? rows : [h("p", { class: "nothing" }, nothing())]));
    const changed = tree.querySelector(".changed");
    const [box, row] = [tree, changed || tree].map((each) => each.getBoundingClientRect());
    tree.scrollTop = changed && row.bottom > box.bottom ? row.top - box.top - box.height / 3 : 0;
  }

  function nothing() {
    return query ? "Nothing here matches." : at ? "This step changes nothing." : "The start state: nothing has changed yet.";
  }

  function isWanted(node, changes) {
    if (node.children) return node.children.some((each) => isWanted(each, changes));
    return (!only.checked || changes.has(node.path)) && matches(node);
  }

  function matches(leaf) {
    return !query || `${leaf.path}: ${leaf.bag ? leaf.bag.join(", ") : leaf.text}`.toLowerCase().includes(query);
  }

  // All of them; in a large state a long row of neighbours that stay as they are is folded into one line, so that what
  // changes is in sight.
  function renderAll(nodes, changes, path) {
    const rendered = (some) => some.map((each) => render(each, changes)).filter(Boolean);
    if (isSmall || query || only.checked || !changes.size) return rendered(nodes);
    const rows = [];
    let from = 0;
    while (from < nodes.length) {
      let to = from;
      while (to < nodes.length && !leavesOf([nodes[to]]).some((leaf) => changes.has(leaf.path))) to += 1;
      const some = nodes.slice(from, to);
      if (some.length > FOLDED_FROM) rows.push(unchanged(some, `${path} ${from}`, () => rendered(some)));
      else rows.push(...rendered(some));
      if (to < nodes.length) rows.push(...rendered([nodes[to]]));
      from = to + 1;
    }
    return rows;
  }

  function unchanged(nodes, key, fill) {
    const inside = h("div", {});
    const isOpen = opened.get(key) ?? false;
    const details = h("details", { open: isOpen },
      h("summary", {}, `${nodes[0].name} … ${nodes[nodes.length - 1].name} `, h("small", {}, `${number(nodes.length)} unchanged`)), inside);
    if (isOpen) inside.replaceChildren(...fill());
    details.querySelector("summary").addEventListener("click", () => {
      opened.set(key, !details.open); // it is about to turn
      if (!details.open) inside.replaceChildren(...fill());
    });
    return details;
  }

  function render(node, changes) {
    if (!isWanted(node, changes)) return null;
    if (node.children) return isGrid(node) && !query && !only.checked ? renderGrid(node, changes) : renderGroup(node, changes);
    return node.bag ? renderBag(node, changes.get(node.path)) : renderLeaf(node, changes.get(node.path));
  }

  function renderGroup(node, changes) {
    const hasChanged = leavesOf([node]).some((leaf) => changes.has(leaf.path));
    const isOpen = opened.get(node.path) ?? (isSmall || hasChanged || Boolean(query));
    const inside = h("div", { class: "inside" });
    const fill = () => inside.replaceChildren(...renderAll(node.children, changes, node.path));
    const details = h("details", { open: isOpen },
      h("summary", {}, ...marked(node.name), " ", h("small", {}, hasValue(node) ? "" : "undefined"), hasChanged && h("span", { class: "dot", title: "changed" })),
      inside);
    if (isOpen) fill();
    details.querySelector("summary").addEventListener("click", () => {
      opened.set(node.path, !details.open); // it is about to turn
      if (!details.open) fill();
    });
    return details;
  }

  // A table for an array of arrays, or of records, of simple values.
  function renderGrid(node, changes) {
    const hasChanged = leavesOf([node]).some((leaf) => changes.has(leaf.path));
    const details = h("details", { open: opened.get(node.path) ?? true },
      h("summary", {}, node.name, hasChanged && h("span", { class: "dot", title: "changed" })),
      h("div", { class: "inside scroll" }, h("table", { class: "grid" },
        h("thead", {}, h("tr", {}, h("td", {}), node.children[0].children.map((each) => h("th", { scope: "col" }, each.name)))),
        h("tbody", {}, node.children.map((line) => h("tr", {}, h("th", { scope: "row" }, line.name), line.children.map((leaf) => {
          const change = changes.get(leaf.path);
          const names = [change && "changed", leaf.isUndefined && "undefined"].filter(Boolean).join(" ");
          return h("td", { class: names, title: change ? `${leaf.path}: ${change.was} before this step` : leaf.path }, leaf.isUndefined && !change ? "–" : leaf.text, change && h("span", { class: "was" }, change.was));
        })))))));
    details.querySelector("summary").addEventListener("click", () => opened.set(node.path, !details.open));
    return details;
  }

  function renderLeaf(leaf, change) {
    return h("div", { class: change ? "row changed" : "row", title: leaf.path },
      h("span", { class: "name" }, ...marked(leaf.name)),
      change && h("span", { class: "was", title: "before this step" }, change.was),
      h("span", { class: leaf.isUndefined ? "value undefined" : "value" }, ...marked(leaf.text)));
  }

  function renderBag(leaf, change) {
    const added = [...((change || {}).added || [])];
    const kept = leaf.bag.map((element) => {
      const position = added.indexOf(element);
      if (position >= 0) added.splice(position, 1);
      return h("div", { class: position >= 0 ? "row changed" : "row" },
        h("span", { class: "name" }, position >= 0 ? "+" : "·"), h("span", { class: "value" }, ...marked(element)));
    });
    const gone = ((change || {}).removed || []).map((element) => h("div", { class: "row changed" },
      h("span", { class: "name" }, "−"), h("span", { class: "was" }, element)));
    const count = h("small", {}, leaf.bag.length ? plural(leaf.bag.length, "element") : "empty");
    const isOpen = opened.get(leaf.path) ?? true;
    const details = h("details", { open: isOpen },
      h("summary", {}, ...marked(leaf.name), " ", count, change && h("span", { class: "dot", title: "changed" })),
      h("div", { class: "inside" }, kept, gone));
    details.querySelector("summary").addEventListener("click", () => opened.set(leaf.path, !details.open));
    return details;
  }

  // Text with what is searched for marked.
  function marked(text) {
    const from = query ? text.toLowerCase().indexOf(query) : -1;
    if (from < 0) return [text];
    return [text.slice(0, from), h("mark", {}, text.slice(from, from + query.length)), text.slice(from + query.length)];
  }

  // --- The list ----------------------------------------------------------------------------------------------------

  function showList(isQuiet) {
    const from = last < STEPS_SHOWN ? 0 : Math.max(0, Math.min(at - STEPS_SHOWN / 2, last - STEPS_SHOWN));
    const to = Math.min(last, from + STEPS_SHOWN);
    const items = [];
    if (from) items.push(h("li", { class: "gap" }, `${plural(from, "step")} before`));
    for (let number = from; number <= to; number += 1) items.push(item(number));
    if (to < last) items.push(h("li", { class: "gap" }, `${plural(last - to, "step")} after`));
    list.replaceChildren(...items);
    const current = list.querySelector("[aria-current]");
    if (current && !isQuiet) {
      const [box, row] = [list.getBoundingClientRect(), current.getBoundingClientRect()];
      if (row.top < box.top || row.bottom > box.bottom) list.scrollTop += row.top - box.top - box.height / 2;
    }
  }

  function item(number) {
    const isLooping = loop !== null && number >= loop.start;
    const names = [hits.has(number) && "hit", isLooping && "looping", isLooping && number === loop.start && "first", isLooping && number === last && "last"];
    return h("li", { class: names.filter(Boolean).join(" "), "aria-current": number === at && "step" },
      h("button", { type: "button", onclick: () => go(number) }, h("span", {}, number), h("span", {}, labelled(steps[number].label))));
  }

  // --- Searching ---------------------------------------------------------------------------------------------------

  // Marks the steps that change something that matches, before or after.
  function find(text) {
    query = text.trim().toLowerCase();
    hits = new Set();
    if (query) {
      steps.forEach((step, number) => {
        const isHit = leavesOf(step.nodes).some((leaf) => {
          const change = step.changes.get(leaf.path);
          return change && (matches(leaf) || `${leaf.path}: ${change.was ?? change.removed.join(", ")}`.toLowerCase().includes(query));
        });
        if (isHit) hits.add(number);
      });
    }
    said.textContent = query ? `${plural(hits.size, "step")} change${hits.size === 1 ? "s" : ""} what matches` : "";
    show(true);
  }

  function nextHit(direction) {
    for (let number = at + direction; number >= 0 && number <= last; number += direction) {
      if (hits.has(number)) return go(number);
    }
    return undefined;
  }

  // --- Copying -----------------------------------------------------------------------------------------------------

  function copyButtons() {
    const kinds = [["text", "The trace as text", () => `${traceText(steps, loop, ending, violation.printed)}\n`]];
    if (/(^|\/)[^.]*$|\.m$/i.test(result.model) && result.variables) {
      kinds.push(["Murphi", "This state as a Murphi startstate", () => murphiText(result, trace, at)]);
    }
    kinds.push(["JSON", "The trace as JSON (ITF)", () => `${JSON.stringify(trace, null, 1)}\n`]);
    return kinds.map(([name, title, make]) => h("button", {
      type: "button", title, "data-copy": name.toLowerCase(),
      onclick: async () => {
        await copyText(make());
        said.textContent = `${title}: copied.`;
      },
    }, name));
  }

  // --- Keys and fingers --------------------------------------------------------------------------------------------

  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") nextHit(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      search.value = "";
      find("");
      state.focus();
    }
  });
  let touched = null;
  state.addEventListener("touchstart", (event) => { touched = event.changedTouches[0]; }, { passive: true });
  state.addEventListener("touchend", (event) => {
    const end = event.changedTouches[0];
    const [across, down] = [end.clientX - touched.clientX, end.clientY - touched.clientY];
    if (Math.abs(across) > SWIPE && Math.abs(across) > 2 * Math.abs(down)) go(across < 0 ? following() : at - 1);
  }, { passive: true });

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const moves = { ArrowLeft: () => go(at - 1), ArrowRight: () => go(following()), Home: () => go(0), End: () => go(last) };
    if (event.key === "/") search.focus();
    else if (moves[event.key]) moves[event.key]();
    else return false;
    return true;
  }

  const text = traceText(steps, loop, ending, violation.printed).split("\n");
  const cut = text.length > LONGEST_PRINT ? [...text.slice(0, LONGEST_PRINT), `... and ${text.length - LONGEST_PRINT} more lines`] : text;
  show(true);
  return { key, scroll: () => go(at), parts: [root, h("pre", { class: "printed" }, cut.join("\n"))] };
}

// Keys go to the stepper that holds the focus or, when nothing does that needs them itself, to the first one.
function listenForKeys(steppers) {
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (target.closest && target.closest("input, textarea, svg")) return;
    const chosen = steppers.find((each) => each.parts[0].contains(target)) || steppers[0];
    if (chosen && chosen.key(event)) event.preventDefault();
  });
}
