// The explorer: steps through a model by hand. The server knows the history; the page shows one moment of it.

const HISTORY_SHOWN = 400;

function explorer(model) {
  let view = null; // what the server said last
  let isBusy = false;
  let walks = 0;
  const undone = []; // moments that were left by going back
  const tree = stateTree();
  const source = sourceView(model.source);
  const where = document.getElementById("where");

  const said = h("p", { class: "said", role: "status", "aria-live": "polite" });
  const back = h("button", { type: "button", class: "control", onclick: () => undo(), title: "One step back (Left arrow, Backspace)" }, "← Undo");
  const forth = h("button", { type: "button", class: "control", onclick: () => redo(), title: "Redo the undone step (Right arrow)" }, "Redo →");
  const restart = h("button", { type: "button", class: "control", onclick: () => ask({ do: "begin" }) }, "Start");
  const wrong = h("p", { class: "ending" });
  const filter = h("input", { type: "search", placeholder: "Filter rules", "aria-label": "Filter rules", oninput: () => showChoices() });
  const choices = h("ol", { class: "choices", "aria-label": "Enabled rules" });
  const only = h("input", { type: "checkbox", onchange: () => showState() });
  const search = h("input", { type: "search", placeholder: "Search names and values", "aria-label": "Search names and values", oninput: () => showState() });
  const history = h("ul", { class: "history", "aria-label": "History" });
  const graph = h("div", {});
  const charted = h("div", { class: "charted" });
  const value = h("output", { class: "value-out" });
  const expression = h("input", { type: "text", class: "entry", placeholder: "an expression of the model", "aria-label": "Expression to evaluate", spellcheck: "false" });
  const goal = h("input", { type: "text", class: "entry", placeholder: "empty: a violation", "aria-label": "Goal of the search: empty for a violation", spellcheck: "false" });
  const length = h("input", { type: "number", class: "entry short", min: 1, max: 2000, value: 10, "aria-label": "Steps of a random walk" });
  const file = h("input", { type: "file", accept: ".json,.trail,application/json", "aria-label": "A saved trace", onchange: () => load() });

  const form = (label, button, submit, ...inside) => h("form", { class: "tool", onsubmit: (event) => { event.preventDefault(); submit(); } },
    h("span", { class: "tool-name" }, label), ...inside, h("button", { type: "submit", class: "control" }, button));
  const tools = h("section", { class: "tools-panel", "aria-label": "Tools" },
    form("Evaluate", "Show", evaluate, expression), value,
    form("Search from here for", "Search", () => ask({ do: "search", at: view.at, text: goal.value, seconds: 30 }, "Searching from this state …"), goal),
    form("Random walk of", "Walk", () => { walks += 1; ask({ do: "walk", at: view.at, steps: Number(length.value), seed: walks }); }, length),
    h("label", { class: "tool" }, h("span", { class: "tool-name" }, "Load a trace"), file));
  const lower = [["Source", h("div", {}, source.element), () => showSource()], ["History", history, () => showHistory()], ["Visited states", graph, () => showGraph()]];

  document.getElementById("explorer").replaceChildren(
    h("div", { class: "bar-top" }, back, forth, restart, said), wrong,
    h("div", { class: "panes" },
      h("section", { class: "pane", "aria-label": "Enabled rules" }, h("h2", {}, "Enabled rules"), filter, choices),
      h("section", { class: "pane", "aria-label": "State" }, h("h2", {}, "State"), h("div", { class: "tools" }, search, h("label", { class: "check" }, only, "Changes only")), tree.element),
      tools),
    charted, h("div", { class: "lower" }, tabs(lower), lower.map((each) => each[1])));

  async function ask(request, waiting) {
    if (isBusy) return null;
    isBusy = true;
    document.body.classList.add("busy");
    said.textContent = waiting || "";
    let answer;
    try {
      const response = await fetch("do", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request) });
      answer = response.ok ? await response.json() : { error: `The server refused: ${response.status}` };
    } catch {
      answer = { error: "The server does not answer. Start it again with outcrop serve." };
    }
    isBusy = false;
    document.body.classList.remove("busy");
    said.textContent = answer.error || answer.said || "";
    said.classList.toggle("bad", Boolean(answer.error));
    if ("at" in answer) {
      view = answer;
      show();
    }
    return answer;
  }

  const go = (at) => ask({ do: "show", at });

  function undo() {
    if (!view || view.path.length < 2) return;
    undone.push(view.at);
    go(view.path[view.path.length - 2]);
  }

  function redo() {
    const at = undone.pop();
    if (at !== undefined) go(at);
  }

  async function evaluate() {
    if (!expression.value.trim()) return;
    const answer = await ask({ do: "evaluate", at: view.at, text: expression.value });
    if (answer && "value" in answer) value.textContent = `${expression.value}: ${answer.value}`;
    else value.textContent = "";
  }

  async function load() {
    const chosen = file.files[0];
    if (!chosen) return;
    await ask({ do: "load", text: await chosen.text(), name: chosen.name });
  }

  // --- Showing -----------------------------------------------------------------------------------------------------

  function show() {
    const step = view.path.length - 1;
    const states = view.trace ? view.trace.states : [];
    const label = states.length ? states[states.length - 1]["#meta"].rule : "";
    where.replaceChildren(...(states.length ? [h("span", { class: "soft" }, `Step ${step}: `), ...[labelled(label)].flat()] : ["Choose a start state"]));
    wrong.hidden = !view.wrong;
    wrong.textContent = `Here: ${view.wrong}.`;
    back.disabled = view.path.length < 2;
    forth.disabled = !undone.length;
    value.textContent = "";
    showChoices();
    showState();
    charted.replaceChildren();
    if (view.chart && view.chart.lanes.length > 1 && view.chart.rows.length > 1) {
      const drawn = messageChart({ ...view.chart, ending: "" }, (row) => go(view.path[row]));
      charted.append(drawn.element);
      drawn.show(step, false, new Set());
    }
    for (const [, element, fill] of lower) if (!element.hidden) fill();
  }

  function showChoices() {
    const wanted = filter.value.trim().toLowerCase();
    const shown = view.choices.map((each, number) => [each, number]).filter(([each]) => each.label.toLowerCase().includes(wanted));
    choices.replaceChildren(...shown.map(([each, number], index) => h("li", {}, h("button", {
      type: "button", class: each.taken ? "choice taken" : "choice", disabled: each.leads_nowhere, onclick: () => { undone.length = 0; ask({ do: "fire", at: view.at, choice: number }); },
    }, index < 9 && h("kbd", {}, index + 1), h("span", {}, labelled(each.label), each.changes_nothing && h("span", { class: "soft" }, " changes nothing"), each.failure && h("span", { class: "bad" }, ` fails: ${each.failure}`))))));
    if (!view.choices.length) choices.append(h("li", { class: "soft" }, "No rule is enabled."));
    if (view.more) choices.append(h("li", { class: "soft" }, `and ${number(view.more)} more`));
  }

  function showState() {
    const states = view.trace ? view.trace.states : [];
    if (!states.length) return tree.element.replaceChildren(h("p", { class: "nothing" }, "There is no state yet."));
    const nodes = nodesOf(model.variables, states[states.length - 1]);
    const before = states.length > 1 ? nodesOf(model.variables, states[states.length - 2]) : null;
    const query = search.value.trim().toLowerCase();
    return tree.show(nodes, changesOf(before, nodes), { query, isOnlyChanges: only.checked, nothing: query ? "Nothing here matches." : "This step changes nothing." });
  }

  function showSource() {
    const isHere = view.place && view.place.file === model.source.file;
    source.show(isHere ? view.place.lines : [1, 0], []);
  }

  // The tree of moments: a step that has several successors begins a branch for each but the first.
  function showHistory() {
    const children = new Map();
    for (const row of view.history) children.set(row[1], [...(children.get(row[1]) || []), row]);
    const rows = [];
    const visit = (parent, depth, branch) => (children.get(parent) || []).forEach((row, index) => {
      const inner = index ? branch + 1 : branch;
      if (rows.length < HISTORY_SHOWN) rows.push([row, depth, inner]);
      visit(row[0], depth + 1, inner);
    });
    visit(0, 0, 0);
    history.replaceChildren(...rows.map(([[number, , label, isWrong], depth, branch]) => {
      const item = h("li", { "aria-current": number === view.at && "step", class: view.path.includes(number) ? "on-path" : "" },
        h("button", { type: "button", onclick: () => go(number) }, h("span", { class: "lanes-number" }, depth), h("span", {}, isWrong && h("span", { class: "bad" }, "✗ "), labelled(label))));
      item.style.setProperty("--branch", String(Math.min(branch, 12)));
      return item;
    }), ...(view.history.length > HISTORY_SHOWN ? [h("li", { class: "soft" }, `and ${number(view.history.length - HISTORY_SHOWN)} more`)] : []));
  }

  function showGraph() {
    graph.replaceChildren(seenGraph(view.graph, view.at, view.path, go));
    const [box, here] = [graph.firstChild, graph.querySelector(".here")];
    if (!here) return;
    const [inside, around] = [here, box].map((each) => each.getBoundingClientRect());
    box.scrollTop += inside.top - around.top - around.height / 2;
    box.scrollLeft += inside.left - around.left - around.width / 2;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !view || event.target.closest("input, textarea, .source")) return;
    const isTab = event.target.closest("[role=tab]"); // there the arrows choose a tab
    if (event.key >= "1" && event.key <= "9") {
      const button = choices.querySelectorAll("button")[Number(event.key) - 1];
      if (button) button.click();
    } else if (event.key === "Backspace" || (event.key === "ArrowLeft" && !isTab)) undo();
    else if (event.key === "ArrowRight" && !isTab) redo();
    else return;
    event.preventDefault();
  });
  ask({ do: "open" });
}

explorer(JSON.parse(document.getElementById("document").textContent));
