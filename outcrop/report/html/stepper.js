// The stepper of a trace: a list of steps, and the state after the chosen one, with its changes.

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

// The first step of the cycle of a lasso, and the rule that closes it; null for other traces.
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

function stepper(result, violation) {
  const trace = violation.trace;
  const steps = stepsOf(result, trace);
  const loop = loopOf(trace);
  const ending = endingOf(violation, loop);
  const last = steps.length - 1;
  const fails = Boolean(violation.failing_rule); // a rule that fails is a step without a state of its own
  const final = last + (fails ? 1 : 0);
  let at = final;
  const shownState = () => Math.min(at, last);
  let query = "";
  let hits = new Set();

  const list = h("ol", { class: "steps", "aria-label": "Steps" });
  list.style.setProperty("--number", `calc(${Math.max(2, String(final).length)}ch + 1.3rem)`);
  const place = h("span", { class: "place", "aria-live": "polite" });
  const slider = h("input", { type: "range", min: 0, max: final, "aria-label": "Step", oninput: () => go(Number(slider.value)) });
  const back = h("button", { type: "button", class: "control", "aria-label": "Previous step", onclick: () => go(at - 1) }, "←");
  const forth = h("button", { type: "button", class: "control", "aria-label": "Next step", onclick: () => go(following()) }, "→");
  const rule = h("p", { class: "rule" });
  const search = h("input", { type: "search", placeholder: "Search names and values", "aria-label": "Search names and values", oninput: () => find(search.value) });
  const only = h("input", { type: "checkbox", onchange: () => show() });
  const tree = stateTree();
  const truths = h("p", { class: "truths" });
  const end = h("p", { class: "ending" }, loop !== null && [
    h("strong", {}, loop.rule === null ? `Back to step ${loop.start}. ` : `${firedText("Rule", loop.rule).replace(/\.$/, "")}: back to step ${loop.start}. `),
  ], ending);
  const output = h("pre", { class: "output", "aria-label": "Output of this step" });
  const lastOutput = h("pre", { class: "output", "aria-label": "Output before the end" }, loop === null ? violation.printed : loop.printed);
  const said = h("span", { "aria-live": "polite" });
  const whole = h("div", {}, h("div", { class: "tools" }, search, h("label", { class: "check" }, only, "Changes only")), tree.element);
  const contexts = violation.steps && violation.steps.length === steps.length ? violation.steps : null;
  const source = contexts && result.source ? sourcePanel(result.source, violation, contexts, last) : null;
  const next = contexts && contexts.some((each) => each.enabled) ? nextPanel(contexts, steps, loop, violation) : null;
  const panels = [source && ["Source", source.element, () => source.show(at)], next && ["Enabled rules", next.element, () => next.show(shownState())]].filter(Boolean);
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
    table.show(shownState());
  });
  const graph = h("details", { class: "more" }, h("summary", {}, "The graph around the trace"));
  let near = null; // made when it is first looked at
  graph.addEventListener("toggle", () => {
    if (!graph.open) return;
    if (!near) {
      near = traceGraph(violation.graph, (step) => go(step));
      graph.append(near.element);
    }
    near.show(shownState());
  });
  const command = h("code", {});
  const root = h("div", { class: ["stepper", drawing && "has-chart", around && "has-source"].filter(Boolean).join(" ") },
    h("div", { class: "controls" }, back, forth, slider, place),
    drawing && h("div", { class: "charted" }, drawing.element),
    list, state, around, last > 0 && h("div", { class: "values" }, values, violation.graph && graph),
    h("div", { class: "keys" }, h("kbd", {}, "←"), " ", h("kbd", {}, "→"), " step, ", h("kbd", {}, "Home"), " ", h("kbd", {}, "End"), " first and last, ", h("kbd", {}, "/"), " search"),
    h("div", { class: "copy" }, "Copy", copyButtons(), said),
    h("p", { class: "command soft" }, "Explore from here: ", command, " where RESULT.json is the output of ", h("code", {}, "--json"), " or ", h("code", {}, "--trace-json"), "."));

  const following = () => (at === last && loop !== null ? loop.start : at + 1);

  function go(step, isQuiet) {
    at = Math.max(0, Math.min(final, step));
    show(isQuiet);
  }

  function show(isQuiet) {
    const here = shownState();
    const step = steps[here];
    const isFailing = at > last;
    place.textContent = `${at} of ${final}`;
    slider.value = at;
    back.disabled = at === 0;
    forth.disabled = at === final && loop === null;
    forth.textContent = at === last && loop !== null ? `↺ ${loop.start}` : "→";
    rule.replaceChildren(h("span", { class: "soft" }, at ? `Step ${at}: ` : "Step 0: startstate "), ...heading(isFailing ? violation.failing_rule : step.label),
      isFailing ? h("span", { class: "soft" }, " fails in this state") : "");
    truths.replaceChildren(...step.truths.map(([text, isTrue]) => h("code", { class: isTrue ? "true" : "" }, isTrue ? text : `!${text}`)));
    truths.hidden = !step.truths.length;
    output.textContent = step.printed;
    output.hidden = isFailing || !step.printed;
    end.hidden = at !== final;
    lastOutput.hidden = at !== final || !lastOutput.textContent;
    command.textContent = explorerCommand(result, here);
    const nothing = query ? "Nothing here matches." : at ? "This step changes nothing." : "The start state: nothing has changed yet.";
    tree.show(step.nodes, isFailing ? new Map() : step.changes, { query, isOnlyChanges: only.checked, nothing });
    showList(isQuiet);
    if (drawing) drawing.show(here, isQuiet, hits);
    if (source && !source.element.hidden) source.show(at);
    if (next && !next.element.hidden) next.show(here);
    if (table && values.open) table.show(here);
    if (near && graph.open) near.show(here);
  }

  function heading(label) {
    if (label === STUTTER) return ["nothing is enabled, so the state repeats"];
    return [at ? h("span", { class: "soft" }, "rule ") : "", labelled(label)].flat();
  }

  // --- The list ----------------------------------------------------------------------------------------------------

  function showList(isQuiet) {
    const from = final < STEPS_SHOWN ? 0 : Math.max(0, Math.min(at - STEPS_SHOWN / 2, final - STEPS_SHOWN));
    const to = Math.min(final, from + STEPS_SHOWN);
    const items = [];
    if (from) items.push(h("li", { class: "gap" }, `${plural(from, "step")} before`));
    for (let number = from; number <= to; number += 1) items.push(item(number));
    if (to < final) items.push(h("li", { class: "gap" }, `${plural(final - to, "step")} after`));
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
      h("button", { type: "button", onclick: () => go(number) }, h("span", {}, number), h("span", {}, labelled(number > last ? violation.failing_rule : steps[number].label))));
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
          return change && (tree.matches(leaf, query) || `${leaf.path}: ${change.was ?? change.removed.join(", ")}`.toLowerCase().includes(query));
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
    const moves = { ArrowLeft: () => go(at - 1), ArrowRight: () => go(following()), Home: () => go(0), End: () => go(final) };
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

// Keys go to the stepper that has the focus. If no other element needs them, they go to the first stepper.
function listenForKeys(steppers) {
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (target.closest && target.closest("input, textarea, svg")) return;
    const chosen = steppers.find((each) => each.parts[0].contains(target)) || steppers[0];
    if (chosen && chosen.key(event)) event.preventDefault();
  });
}
