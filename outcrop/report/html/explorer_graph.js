// The visited states as a graph. The server computes the layout.

const NODE = 26; // size of a node, in pixels

function seenGraph(graph, at, path, go) {
  if (!graph.nodes.length) return h("p", { class: "soft" }, "No state has been visited yet.");
  const width = Math.max(...graph.nodes.map((node) => node.x)) + NODE + 20;
  const height = Math.max(...graph.nodes.map((node) => node.y)) + NODE + 20;
  const middle = (node) => [node.x + NODE / 2 + 10, node.y + NODE / 2 + 10];
  const onPath = new Set(path);
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "seen", role: "img", "aria-label": `Graph of the ${graph.nodes.length} states visited so far` });
  for (const link of graph.links) {
    const [from, to] = [middle(graph.nodes[link.source]), middle(graph.nodes[link.target])];
    const isLoop = link.source === link.target;
    const bend = (to[1] - from[1]) / 2;
    const d = isLoop
      ? `M${from[0] + 9},${from[1] - 9}c22,-16 22,34 0,18`
      : bend > 0
        ? `M${from[0]},${from[1]}C${from[0]},${from[1] + bend} ${to[0]},${to[1] - bend} ${to[0]},${to[1]}`
        : `M${from[0]},${from[1]}Q${(from[0] + to[0]) / 2 + 40},${(from[1] + to[1]) / 2} ${to[0]},${to[1]}`;
    svg.append(s("path", { class: "seen-link", d }, s("title", {}, link.label)));
  }
  graph.nodes.forEach((node, index) => {
    const [x, y] = middle(node);
    const isHere = node.moments.includes(at);
    const names = ["seen-node", isHere && "here", node.moments.some((each) => onPath.has(each)) && "on-path"].filter(Boolean).join(" ");
    svg.append(s("circle", { class: names, cx: x, cy: y, r: NODE / 2 - 3, tabindex: "0", role: "button", "aria-label": `State ${index}`, onclick: () => go(node.moments[0]), onkeydown: (event) => { if (event.key === "Enter") go(node.moments[0]); } }));
    svg.append(s("text", { x, y: y + 4, "text-anchor": "middle", "pointer-events": "none" }, index));
  });
  return h("div", { class: "seen-scroll" }, svg, graph.more > 0 && h("p", { class: "soft" }, `${plural(graph.more, "state")} more were seen and are not drawn.`));
}
