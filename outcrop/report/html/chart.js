// Charts as inline SVG, drawn at the width they have, so that their text has the same size on a phone. The value
// under the pointer, or under a cursor that the arrow keys move, is shown next to it.

const MARGIN = { top: 20, right: 8, bottom: 34, left: 48 };
const LEAST_BAR = 3;
const PAPER_WIDTH = 680; // so that the text is as large as that around it

// Round steps that divide the axis from 0 to `most` into about `wanted` parts.
function ticks(most, wanted, isBinary, isWhole) {
  if (!(most > 0)) return [0];
  const raw = most / wanted;
  const base = isBinary ? 2 ** (10 * Math.floor(Math.log2(raw) / 10)) : 10 ** Math.floor(Math.log10(raw));
  const factors = isBinary ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1024] : [1, 2, 5, 10];
  let step = base * factors.find((factor) => base * factor >= raw * 0.999);
  if (isWhole) step = Math.max(1, Math.round(step));
  const found = [];
  for (let at = 0; at <= most * 1.0001; at += step) found.push(at);
  return found;
}

// The same, as far as needed for `most` to lie below the last one.
function scale(most, wanted, isBinary, isWhole) {
  const found = ticks(most, wanted, isBinary, isWhole);
  const step = found.length > 1 ? found[1] : isWhole ? 1 : most;
  while (found[found.length - 1] < most * 0.9999) found.push(found[found.length - 1] + step);
  return found;
}

// Merges neighbouring points if there are more than fit: their sum in each series, and their number.
function binned(xs, series, most) {
  const size = Math.max(1, Math.ceil(xs.length / most));
  const bins = [];
  for (let begin = 0; begin < xs.length; begin += size) {
    const end = Math.min(xs.length, begin + size);
    bins.push({
      from: xs[begin],
      to: xs[end - 1],
      values: series.map((each) => {
        const known = each.values.slice(begin, end).filter((value) => typeof value === "number");
        return known.length ? sum(known) / known.length : null;
      }),
    });
  }
  return bins;
}

// `series`: {name, role, values}, drawn as bars on top of each other, or as lines. `formatX`, `formatY` give text.
function chart({ label, xs, series, kind, xLabel, yLabel, formatX = number, formatY = brief, isBinary, height = 190 }) {
  const svg = s("svg", { role: "img", tabindex: "0", "aria-label": label });
  const tip = h("div", { class: "tip" });
  const legend = series.length > 1
    && h("div", { class: "legend" }, series.map((each) => h("span", { class: each.role }, each.name)));
  const figure = h("figure", {}, legend, svg, tip);
  let points = [];
  let cursor = null;
  let chosen = -1;
  const isWhole = !isBinary && series.every((each) => each.values.every((value) => typeof value !== "number" || Number.isInteger(value)));

  function draw(given) {
    const width = Math.max(240, given || figure.clientWidth || 640);
    const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    const bins = kind === "bars" ? binned(xs, series, Math.floor(inner.width / LEAST_BAR)) : binned(xs, series, Infinity);
    const tops = bins.map((bin) => (kind === "bars" ? sum(bin.values) : Math.max(0, ...bin.values)));
    const levels = scale(Math.max(...tops, 0) || 1, 4, isBinary, isWhole);
    const most = levels[levels.length - 1];
    const last = xs[xs.length - 1] || 0;
    const first = xs[0] || 0;
    const x = kind === "bars"
      ? (at) => MARGIN.left + (inner.width * (at + 0.5)) / bins.length
      : (at) => MARGIN.left + (last > first ? (inner.width * (bins[at].from - first)) / (last - first) : 0);
    const y = (value) => MARGIN.top + inner.height * (1 - value / most);
    drawAxes(width, inner, levels, y, bins, x);
    if (kind === "bars") drawBars(bins, inner, x, y);
    else drawLines(bins, x, y);
    cursor = s("line", { class: "cursor", y1: MARGIN.top, y2: MARGIN.top + inner.height });
    svg.append(cursor);
    points = bins.map((bin, at) => ({ x: x(at), bin }));
    choose(-1);
  }

  function drawAxes(width, inner, levels, y, bins, x) {
    const bottom = MARGIN.top + inner.height;
    for (const value of levels) {
      svg.append(s("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }));
      svg.append(s("text", { x: MARGIN.left - 7, y: y(value) + 4, "text-anchor": "end" }, formatY(value)));
    }
    svg.append(s("line", { class: "axis", x1: MARGIN.left, x2: width - MARGIN.right, y1: bottom, y2: bottom }));
    const wanted = Math.max(2, Math.floor(inner.width / 90));
    const shown = kind === "bars" ? labelled(bins.length, wanted) : null;
    if (shown) {
      for (const at of shown) {
        svg.append(s("text", { x: x(at), y: bottom + 15, "text-anchor": "middle" }, formatX(bins[at].from)));
      }
    } else {
      const last = xs[xs.length - 1] || 0;
      for (const value of ticks(last, wanted, false, false)) {
        const at = MARGIN.left + (last ? (inner.width * value) / last : 0);
        svg.append(s("text", { x: at, y: bottom + 15, "text-anchor": "middle" }, formatX(value)));
      }
    }
    svg.append(s("text", { x: width - MARGIN.right, y: bottom + 30, "text-anchor": "end" }, xLabel));
    if (yLabel) svg.append(s("text", { class: "axis-title", x: MARGIN.left - 7, y: 10, "text-anchor": "start" }, yLabel));
  }

  // The bars that carry a label.
  function labelled(count, wanted) {
    const step = ticks(count - 1, wanted, false, true)[1] || 1;
    return Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step);
  }

  function drawBars(bins, inner, x, y) {
    const slot = inner.width / bins.length;
    const width = Math.min(36, slot > 4 ? slot * 0.8 : slot);
    bins.forEach((bin, at) => {
      let below = 0;
      bin.values.forEach((value, index) => {
        if (!value) return;
        const top = y(below + value);
        const tall = Math.max(y(below) - top, below ? 0 : 0.75);
        svg.append(s("rect", { class: series[index].role, x: x(at) - width / 2, y: top, width, height: tall }));
        below += value;
      });
    });
  }

  function drawLines(bins, x, y) {
    series.forEach((each, index) => {
      const line = bins.map((bin, at) => `${at ? "L" : "M"}${x(at).toFixed(1)},${y(bin.values[index] || 0).toFixed(1)}`);
      if (index === 0 && bins.length) {
        svg.append(s("path", { class: "area", d: `${line.join("")}V${y(0)}H${x(0)}Z` }));
      }
      svg.append(s("path", { class: each.role, d: line.join("") }));
    });
  }

  function choose(at) {
    chosen = at;
    const point = points[at];
    const visibility = point ? "visible" : "hidden";
    cursor.style.visibility = visibility;
    tip.style.visibility = visibility;
    if (!point) return;
    cursor.setAttribute("x1", point.x);
    cursor.setAttribute("x2", point.x);
    const { from, to, values } = point.bin;
    const isOne = from === to;
    const head = isOne ? `${xLabel} ${formatX(from)}` : `${xLabel}s ${formatX(from)} to ${formatX(to)}, on average`;
    const exact = formatY === brief ? (value) => number(isOne ? value : Math.round(value)) : formatY;
    tip.replaceChildren(h("b", {}, head), ...values.flatMap((value, index) => [
      h("br"), `${series[index].name}: ${typeof value === "number" ? exact(value) : "not known"}`,
    ]));
    const room = figure.clientWidth - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(room, point.x + (point.x > room - 12 ? -tip.offsetWidth - 12 : 12)))}px`;
    tip.style.top = `${svg.getBoundingClientRect().top - figure.getBoundingClientRect().top + MARGIN.top}px`;
  }

  function nearest(event) {
    const at = event.clientX - svg.getBoundingClientRect().left;
    let best = -1;
    points.forEach((point, index) => {
      if (best < 0 || Math.abs(point.x - at) < Math.abs(points[best].x - at)) best = index;
    });
    choose(best);
  }

  svg.addEventListener("pointermove", nearest);
  svg.addEventListener("pointerdown", nearest);
  svg.addEventListener("pointerleave", () => choose(-1));
  svg.addEventListener("blur", () => choose(-1));
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(points.length - 1, chosen + step)));
  });
  new ResizeObserver(() => draw()).observe(figure);
  window.addEventListener("beforeprint", () => draw(PAPER_WIDTH));
  window.addEventListener("afterprint", () => draw());
  return figure;
}
