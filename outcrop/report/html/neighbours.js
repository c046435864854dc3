// The graph around a trace: its states on one line, and the states that other rules lead to beside it. The file carries
// the layout (outcrop/explore/neighbours.py).

// `go(step)` is called when a state of the trace is chosen.
function traceGraph(graph, go) {
  const [margin, tall] = [14, graph.height];
  const width = Math.max(...graph.nodes.map((node) => node.x + node.width)) + 2 * margin + 40;
  const height = Math.max(...graph.nodes.map((node) => node.y)) + tall + 2 * margin;
  const others = graph.nodes.filter((node) => node.step === null).length;
  const svg = s("svg", { viewBox: `${-margin} ${-margin} ${width} ${height}`, width, height, role: "group", "aria-label": `Graph of the trace and ${plural(others, "state")} beside it` });
  for (const link of graph.links) svg.append(s("path", { class: link.in_trace ? "near-link traced" : "near-link", d: curve(graph.nodes[link.source], graph.nodes[link.target], tall) }, s("title", {}, link.label)));
  const boxes = graph.nodes.map((node) => {
    const names = ["near-node", node.step !== null && "traced", node.wrong && "wrong"].filter(Boolean).join(" ");
    const acts = node.step === null ? {} : {
      tabindex: "0", role: "button", "aria-label": `Step ${node.step}: ${node.label}`, onclick: () => go(node.step),
      onkeydown: (event) => { if (event.key === "Enter") go(node.step); },
    };
    return s("g", { class: names, ...acts }, s("title", {}, node.wrong ? `${node.label}: ${node.wrong}` : node.label),
      s("rect", { x: node.x, y: node.y, width: node.width, height: tall, rx: 4 }),
      s("text", { x: node.x + 8, y: node.y + 16 }, node.text));
  });
  svg.append(...boxes);
  const scroll = h("div", { class: "near", tabindex: "0", role: "group", "aria-label": "Graph around the trace" }, svg);
  const element = h("div", {}, h("p", { class: "soft" }, "States of the trace are on the line, each with the rule that led to it. Beside them: where other enabled rules lead."), scroll);

  function show(step) {
    graph.nodes.forEach((node, index) => boxes[index].classList.toggle("here", node.step === step));
    const here = graph.nodes.find((node) => node.step === step);
    if (!here) return;
    scroll.scrollTop = here.y - scroll.clientHeight / 2;
    scroll.scrollLeft = here.x + here.width / 2 - scroll.clientWidth / 2;
  }
  return { element, show };
}

function curve(from, to, tall) {
  const [x, y, endX] = [from.x + from.width / 2, from.y + tall, to.x + to.width / 2];
  const bend = (to.y - y) / 2;
  if (bend > 0) return `M${x},${y}C${x},${y + bend} ${endX},${to.y - bend} ${endX},${to.y}`;
  const [side, endSide] = [from.x + from.width, to.x + to.width];
  if (from !== to && from.y === to.y) return `M${x},${y}C${x},${y + 16} ${endX},${y + 16} ${endX},${y}`;
  if (from === to) return `M${side},${from.y + 6}c20,-8 20,20 0,12`;
  const far = Math.max(side, endSide) + 36;
  return `M${side},${from.y + tall / 2}C${far},${from.y + tall / 2} ${far},${to.y + tall / 2} ${endSide},${to.y + tall / 2}`;
}
