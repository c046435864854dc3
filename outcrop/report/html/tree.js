// A state as a tree: changes of a step are marked, and long rows of unchanged neighbours are folded.

const OPEN_UP_TO = 60; // leaves of a state that is shown whole at first
const FOLDED_FROM = 5; // neighbours in a larger one that stay as they are

// `show(nodes, changes, wanted)` fills the element; `wanted`: {query, isOnlyChanges, nothing}, where `nothing` is said when
// there is nothing to show. Groups that the reader has opened or closed stay so.
function stateTree() {
  const element = h("div", { class: "tree" });
  const opened = new Map(); // by path
  let isSmall = true;
  let query = "";
  let isOnlyChanges = false;

  function show(nodes, changes, wanted) {
    isSmall = leavesOf(nodes).length <= OPEN_UP_TO;
    query = wanted.query;
    isOnlyChanges = wanted.isOnlyChanges;
    const rows = renderAll(nodes, changes, "");
    element.replaceChildren(...(rows.length ? rows : [h("p", { class: "nothing" }, wanted.nothing)]));
    const changed = element.querySelector(".changed");
    const [box, row] = [element, changed || element].map((each) => each.getBoundingClientRect());
    element.scrollTop = changed && row.bottom > box.bottom ? row.top - box.top - box.height / 3 : 0;
  }

  function isWanted(node, changes) {
    if (node.children) return node.children.some((each) => isWanted(each, changes));
    return (!isOnlyChanges || changes.has(node.path)) && matches(node, query);
  }

  function matches(leaf, text) {
    return !text || `${leaf.path}: ${leaf.bag ? leaf.bag.join(", ") : leaf.text}`.toLowerCase().includes(text);
  }

  // Renders all nodes. In a large state a long row of unchanged neighbours is folded into one line, so that changes are
  // in sight.
  function renderAll(nodes, changes, path) {
    const rendered = (some) => some.map((each) => render(each, changes)).filter(Boolean);
    if (isSmall || query || isOnlyChanges || !changes.size) return rendered(nodes);
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
    if (node.children) return isGrid(node) && !query && !isOnlyChanges ? renderGrid(node, changes) : renderGroup(node, changes);
    return node.bag ? renderBag(node, changes.get(node.path)) : renderLeaf(node, changes.get(node.path));
  }

  function renderGroup(node, changes) {
    const hasChanged = leavesOf([node]).some((leaf) => changes.has(leaf.path));
    const isOpen = opened.get(node.path) ?? (isSmall || hasChanged || Boolean(query));
    const inside = h("div", { class: "inside" });
    const fill = () => inside.replaceChildren(...renderAll(node.children, changes, node.path));
    const details = h("details", { open: isOpen },
      h("summary", {}, ...marked(node.name), " ", h("small", {}, hasValue(node) ? "" : undefinedText([node])), hasChanged && h("span", { class: "dot", title: "changed" })),
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
      return h("div", { class: position >= 0 ? "row element changed" : "row element" },
        h("span", { class: "name" }, position >= 0 ? "+" : "·"), h("span", { class: "value" }, ...marked(element)));
    });
    const gone = ((change || {}).removed || []).map((element) => h("div", { class: "row element changed" },
      h("span", { class: "name" }, "−"), h("span", { class: "was" }, element)));
    const count = h("small", {}, leaf.bag.length ? plural(leaf.bag.length, "element") : "empty");
    const isOpen = opened.get(leaf.path) ?? true;
    const details = h("details", { open: isOpen },
      h("summary", {}, ...marked(leaf.name), " ", count, change && h("span", { class: "dot", title: "changed" })),
      h("div", { class: "inside" }, kept, gone));
    details.querySelector("summary").addEventListener("click", () => opened.set(leaf.path, !details.open));
    return details;
  }

  // The text with matches of the search marked.
  function marked(text) {
    const from = query ? text.toLowerCase().indexOf(query) : -1;
    if (from < 0) return [text];
    return [text.slice(0, from), h("mark", {}, text.slice(from, from + query.length)), text.slice(from + query.length)];
  }

  return { element, show, matches };
}
