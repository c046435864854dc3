// Building blocks: elements, numbers, and the colours' roles. All text goes through text nodes, never through markup,
// because names and values come from a model, which is untrusted.

const SVG = "http://www.w3.org/2000/svg";

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== undefined && child !== null && child !== false) element.append(child);
  }
  return element;
}

function h(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

function s(tag, attributes, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

function number(value) {
  return typeof value === "number" ? value.toLocaleString("en-US") : "–";
}

function plural(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

// 1,234,567 as 1.2M, for axes.
function brief(value) {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (Math.abs(value) >= size) return `${+(value / size).toPrecision(3)}${unit}`;
  }
  return `${+value.toPrecision(3)}`;
}

function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${value >= 100 || at === 0 ? Math.round(value) : +value.toFixed(1)} ${units[at]}`;
}

function duration(seconds) {
  if (seconds === 0) return "0";
  if (seconds < 0.01) return `${+(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 120) return `${+seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function section(title, ...children) {
  const id = title.toLowerCase().replace(/[^a-z]+/g, "-");
  return h("section", { id }, h("h2", {}, title), ...children);
}

function place(position) {
  return position ? `${position.file}:${position.line}:${position.column}` : "";
}

const sum = (values) => values.reduce((total, value) => total + (value || 0), 0);
