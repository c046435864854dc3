// The message chart of a trace: lanes side by side, one row a step, messages across. Made from the chart that the file
// carries for each violation (outcrop/trace/chart.py).

const MOST_ROWS = 300; // of a long trace, around the step that is chosen
const MOST_PRINTED_ROWS = 1000;
const MOST_CHANGES = 6; // of one lane in one step

// `go(step)` is called when a row is chosen. Returns the element and `show(step)`, which marks a row.
function messageChart(chart, go) {
  const folded = new Set(chart.idle);
  const body = h("div", { class: "lanes-body", tabindex: "0", role: "group", "aria-label": "Message chart: steps from top to bottom, one column for each lane" });
  const legend = h("p", { class: "lanes-legend soft" });
  const root = h("div", { class: "lanes" }, body, legend);
  let at = -1;
  let hits = new Set(); // steps that a search has found
  let drawn = [0, 0];

  const kept = () => chart.lanes.map((_, lane) => lane).filter((lane) => !folded.has(lane));
  // All rows have the same columns, since different widths would break the lifelines.
  function shape(row) {
    row.style.gridTemplateColumns = `var(--rule-width) repeat(${kept().length}, minmax(0, 1fr))`;
    row.style.minWidth = `calc(var(--rule-width) + ${8.5 * kept().length}rem)`;
  }
  // Every lane is two columns wide in the grid of arrows, so that an arrow can begin at a lifeline in the middle of it.
  const middle = (lane) => 2 * kept().indexOf(lane) + 2;

  function draw(most = MOST_ROWS) {
    const rows = chart.rows;
    const from = rows.length <= most ? 0 : Math.max(0, Math.min(at - most / 2, rows.length - most));
    const to = Math.min(rows.length, from + most);
    drawn = [from, to];
    const parts = [];
    if (from) parts.push(h("p", { class: "lanes-gap" }, `${plural(from, "step")} before`));
    for (const row of rows.slice(from, to)) parts.push(line(row, String(row.step), row.step));
    if (to < rows.length) parts.push(h("p", { class: "lanes-gap" }, `${plural(rows.length - to, "step")} after`));
    if (chart.closing) {
      parts.push(line(chart.closing, "↺", chart.loop_start, "closing"));
      parts.push(h("p", { class: "lanes-ending" }, `Back to step ${chart.loop_start}, and so forever.`));
    }
    parts.push(h("p", { class: "lanes-ending" }, h("span", { class: "bad" }, "✗ "), chart.ending));
    body.replaceChildren(h("div", { class: "lanes-top" }, heading()), h("div", { class: "lanes-rows" }, parts));
    const arrows = rows.flatMap((row) => row.arrows);
    legend.replaceChildren(...[
      arrows.some((each) => each.kind === "sent") && [h("span", { class: "key sent" }), "sent, in flight ", h("span", { class: "key received" }), "received", h("span", { class: "key none" })],
      folded.size > 0 && [`${plural(folded.size, "lane")} folded: `, [...folded].map((lane) => h("button", { type: "button", class: "link", onclick: () => toggle(lane) }, chart.lanes[lane]))],
    ].flat(Infinity).filter(Boolean));
  }

  function toggle(lane) {
    if (folded.has(lane)) folded.delete(lane);
    else if (kept().length > 1) folded.add(lane);
    draw();
    mark(true);
  }

  function heading() {
    const row = h("div", { class: "lanes-row lanes-head" }, h("div", { class: "lanes-rule soft" }, "Step"),
      kept().map((lane) => h("div", { class: "lane-name" }, h("button", { type: "button", title: `Fold ${chart.lanes[lane]}`, onclick: () => toggle(lane) }, chart.lanes[lane]),
        h("strong", { class: "on-paper", "aria-hidden": "true" }, chart.lanes[lane]))));
    shape(row);
    return row;
  }

  function line(row, number, step, extra) {
    const isLooping = chart.loop_start !== null && (extra === "closing" || row.step >= chart.loop_start);
    const arrows = row.arrows.map(arrow).filter(Boolean);
    const names = ["lanes-row", extra, isLooping && "looping", isLooping && row.step === chart.loop_start && !extra && "first"].filter(Boolean).join(" ");
    const element = h("div", { class: names, "data-step": extra ? null : row.step },
      h("button", { type: "button", class: "lanes-rule", "aria-label": spoken(row, number), onclick: () => go(step) }, h("span", { class: "lanes-number" }, number), h("span", {}, row.rule)),
      h("div", { class: "lanes-cells" },
        arrows.length > 0 && arrows,
        kept().map((lane, index) => cell(row, lane, index, arrows.length))));
    shape(element);
    element.lastChild.style.gridTemplateColumns = `repeat(${2 * kept().length}, minmax(0, 1fr))`;
    element.lastChild.style.gridColumn = `2 / span ${kept().length}`;
    return element;
  }

  function cell(row, lane, index, above) {
    const changes = row.changes.filter((each) => each.lane === lane);
    const shown = changes.length > MOST_CHANGES ? changes.slice(0, MOST_CHANGES - 1) : changes;
    const isActor = row.actors.includes(lane);
    const element = h("div", { class: isActor ? "lane acts" : "lane" },
      h("div", { class: "changes" },
        shown.map((each) => h("span", { class: "change", title: `${each.name}: ${each.before} → ${each.after}` }, h("span", { class: "soft" }, breakable(each.name), " "), each.after)),
        changes.length > shown.length && h("span", { class: "soft" }, `${changes.length - shown.length} more`)));
    element.style.gridColumn = `${2 * index + 1} / span 2`;
    element.style.gridRow = `1 / span ${above + 1}`;
    element.style.setProperty("--above", above);
    return element;
  }

  function arrow(given, index) {
    const ends = [given.source, given.target].filter((lane) => lane !== null && !folded.has(lane));
    if (!ends.length) return null;
    const [source, target] = ends.length === 2 ? ends : [ends[0], ends[0]];
    const isStub = source === target;
    const [left, right] = [Math.min(middle(source), middle(target)), Math.max(middle(source), middle(target))];
    const names = ["arrow", given.kind, isStub ? "stub" : middle(target) < middle(source) ? "leftward" : "rightward"];
    const when = given.other_step === null ? "" : given.kind === "sent" ? ` (received in step ${given.other_step})` : ` (sent in step ${given.other_step})`;
    const lane = (number) => (number === null ? "?" : chart.lanes[number]);
    const element = h("div", { class: names.join(" "), title: `${lane(given.source)} → ${lane(given.target)}: ${given.text}${when}` }, h("span", { class: "arrow-text" }, given.text || given.kind));
    element.style.gridColumn = isStub ? `${left} / span 1` : `${left} / ${right}`;
    element.style.gridRow = String(index + 1);
    return element;
  }

  // The text of a row for screen readers.
  function spoken(row, number) {
    const lane = (each) => (each === null ? "somebody" : chart.lanes[each]);
    const messages = row.arrows.map((each) => `${each.kind} from ${lane(each.source)} to ${lane(each.target)}: ${each.text}`);
    const changes = row.changes.map((each) => `${lane(each.lane)} ${each.name} from ${each.before} to ${each.after}`);
    const who = row.actors.map((each) => chart.lanes[each]).join(" and ");
    return [`Step ${number}`, row.rule, who && `by ${who}`, ...messages, ...changes].filter(Boolean).join(", ");
  }

  function mark(isQuiet) {
    for (const each of body.querySelectorAll("[data-step]")) {
      each.removeAttribute("aria-current");
      each.classList.toggle("hit", hits.has(Number(each.dataset.step)));
    }
    const current = body.querySelector(`[data-step="${at}"]`);
    if (!current) return;
    current.setAttribute("aria-current", "step");
    if (isQuiet) return;
    const [box, row] = [body.getBoundingClientRect(), current.getBoundingClientRect()];
    const isLast = !body.querySelector(`[data-step="${at + 1}"]`);
    if (isLast) body.scrollTop = body.scrollHeight; // the verdict stands below the last step
    else if (row.top < box.top + 40 || row.bottom > box.bottom) body.scrollTop += row.top - box.top - box.height / 2;
  }

  function show(step, isQuiet, found) {
    at = step;
    hits = found;
    if (chart.rows.length > MOST_ROWS && (step < drawn[0] || step >= drawn[1])) draw();
    mark(isQuiet);
  }

  draw();
  if (chart.rows.length > MOST_ROWS) {
    window.addEventListener("beforeprint", () => draw(MOST_PRINTED_ROWS));
    window.addEventListener("afterprint", () => { draw(); mark(true); });
  }
  return { element: root, show };
}

// A name that may wrap after its dots rather than inside its words.
function breakable(name) {
  return name.split(/(?<=\.)/).flatMap((part, index) => (index ? [h("wbr"), part] : [part]));
}
