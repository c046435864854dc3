// Tables that sort by the column whose head is clicked; long ones show a part of themselves first.

const ROWS_AT_FIRST = 60;

// `columns`: {name, value(row), show(row) or nothing, isNumber, isMinor (not on a phone), title}. `rows`: anything.
function table(columns, rows, { sortBy = -1, descending = false } = {}) {
  let by = sortBy;
  let isDown = descending;
  let showsAll = rows.length <= ROWS_AT_FIRST;
  const body = h("tbody");
  const more = h("button", { class: "control", onclick: () => { showsAll = true; fill(); } }, `Show all ${number(rows.length)}`);
  const kind = (column) => `${column.isNumber ? "number" : "text"}${column.isMinor ? " minor" : ""}`;
  const heads = columns.map((column, index) => h(
    "th",
    { class: kind(column), scope: "col", title: column.title },
    h("button", { type: "button", onclick: () => sort(index) }, column.name),
  ));

  function sort(index) {
    isDown = by === index ? !isDown : Boolean(columns[index].isNumber);
    by = index;
    fill();
  }

  // Unknown values come last, whichever way.
  function compare(a, b) {
    const [one, other] = [columns[by].value(a), columns[by].value(b)];
    if (one === null || one === undefined) return other === null || other === undefined ? 0 : 1;
    if (other === null || other === undefined) return -1;
    const order = typeof one === "number" ? one - other : String(one).localeCompare(String(other));
    return isDown ? -order : order;
  }

  function fill() {
    const ordered = by < 0 ? rows : [...rows].sort(compare);
    body.replaceChildren(...(showsAll ? ordered : ordered.slice(0, ROWS_AT_FIRST)).map((row) => h(
      "tr", {},
      columns.map((column) => h(
        "td",
        { class: kind(column) },
        column.show ? column.show(row) : column.isNumber ? number(column.value(row)) : column.value(row),
      )),
    )));
    heads.forEach((head, index) => {
      if (index === by) head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    more.hidden = showsAll;
  }

  fill();
  return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, heads)), body), more);
}

// A number with a bar under it, as long as its share of `most`.
function measured(value, most) {
  const bar = h("span", { class: "bar" });
  bar.style.width = most ? `${(100 * (value || 0)) / most}%` : "0";
  return [number(value), typeof value === "number" && value > 0 && bar];
}
