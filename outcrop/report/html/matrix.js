// A matrix of variables and steps, with the value of each variable after each step. Changes are coloured, constant rows folded away. The map above
// shows the whole trace at once.

const WINDOW = 30; // steps that are shown at once
const MOST_MATRIX_ROWS = 200;

// `go(step)` is called when a column is chosen. Returns the element and `show(step)`.
function matrix(steps, go) {
  const last = steps.length - 1;
  const leaves = steps.map((step) => new Map(leavesOf(step.nodes).map((leaf) => [leaf.path, leaf.bag ? `{${leaf.bag.join(", ")}}` : leaf.text])));
  const paths = [...leaves[0].keys()];
  const changed = new Map(paths.map((path) => [path, steps.flatMap((step, number) => (step.changes.has(path) ? [number] : []))]));
  const moving = paths.filter((path) => changed.get(path).length);
  let at = last;
  let query = "";

  const search = h("input", { type: "search", placeholder: "Filter by name or value", "aria-label": "Filter the matrix by name or value", oninput: () => { query = search.value.trim().toLowerCase(); draw(); } });
  const constant = h("input", { type: "checkbox", onchange: () => draw() });
  const map = h("div", { class: "heat" });
  const table = h("div", { class: "scroll matrix-scroll" });
  const note = h("p", { class: "soft" });
  const element = h("div", { class: "matrix" },
    h("div", { class: "tools" }, search, paths.length > moving.length && h("label", { class: "check" }, constant, `Also the ${plural(paths.length - moving.length, "value")} that never change`)),
    map, table, note);

  function rows() {
    const wanted = constant.checked ? paths : moving;
    return wanted.filter((path) => !query || path.toLowerCase().includes(query) || leaves.some((each) => each.get(path).toLowerCase().includes(query)));
  }

  function draw() {
    const shown = rows();
    note.textContent = shown.length > MOST_MATRIX_ROWS ? `${number(shown.length - MOST_MATRIX_ROWS)} more rows: filter them.` : shown.length ? "" : "Nothing here matches.";
    drawMap(shown);
    drawTable(shown.slice(0, MOST_MATRIX_ROWS));
  }

  // One thin line per variable, one tick per change.
  function drawMap(shown) {
    if (last <= WINDOW || !shown.length) return map.replaceChildren();
    const tall = Math.max(2, Math.min(8, Math.floor(160 / shown.length)));
    const svg = s("svg", { viewBox: `0 0 ${last + 1} ${shown.length * tall}`, preserveAspectRatio: "none", role: "img", "aria-label": `When each of ${shown.length} values changes, over ${last + 1} steps`, height: shown.length * tall });
    shown.forEach((path, index) => {
      for (const step of changed.get(path)) svg.append(s("rect", { class: "changed", x: step, y: index * tall, width: 1, height: tall - (tall > 3 ? 1 : 0) }, s("title", {}, `${path}, step ${step}`)));
    });
    svg.append(s("rect", { class: "here", x: at, y: 0, width: 1, height: shown.length * tall }));
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      go(Math.floor(((event.clientX - box.left) / box.width) * (last + 1)));
    });
    return map.replaceChildren(svg);
  }

  function drawTable(shown) {
    const from = Math.max(0, Math.min(at - Math.floor(WINDOW / 2), last - WINDOW + 1));
    const numbers = Array.from({ length: Math.min(WINDOW, last + 1) }, (_, index) => from + index);
    const head = h("tr", {}, h("th", { scope: "col" }, "Step"), numbers.map((step) => h("th", { scope: "col", class: step === at ? "here" : "" },
      h("button", { type: "button", title: steps[step].label, onclick: () => go(step) }, step))));
    const body = shown.map((path) => h("tr", {}, h("th", { scope: "row" }, path), numbers.map((step) => {
      const isChanged = step > 0 && steps[step].changes.has(path);
      const text = leaves[step].get(path);
      const isShown = isChanged || step === numbers[0];
      return h("td", { class: [isChanged && "changed", step === at && "here"].filter(Boolean).join(" "), title: `${path} = ${text}` }, isShown || step === at ? text : h("span", { class: "same", "aria-label": text }, "·"));
    })));
    table.replaceChildren(h("table", {}, h("thead", {}, head), h("tbody", {}, body)));
    const here = table.querySelector("th.here");
    const [box, column] = [table, here || table].map((each) => each.getBoundingClientRect());
    if (here && column.right > box.right) table.scrollLeft += column.right - box.right;
  }

  return { element, show: (step) => { at = step; draw(); } };
}
