// The model's text: highlighted, with the rule that fired and the parts that matter marked.

const LANGUAGES = {
  m: { isCaseless: true, comment: /--[^\n]*|\/\*[\s\S]*?\*\//y, words: "acos alias array asin assert assume atan begin boolean by case ceil choose clear const cos cosh cover do else elsif end endalias endexists endfor endforall endfunction endif endprocedure endrecord endrule endruleset endstartstate endswitch endwhile enum error exists exp fabs false floor fmod for forall function if invariant ismember isundefined liveness log log10 multiset multisetadd multisetcount multisetremove multisetremovepred of pow procedure put real record return rule ruleset scalarset sin sinh sqrt startstate switch tan tanh then to true type undefine undefined union var while" },
  dve: { comment: /\/\/[^\n]*|\/\*[\s\S]*?\*\//y, words: "accept and assert async buchi byte channel commit const effect fair false genbuchi guard imply init int muller not or process property rabin state sync system trans true" },
  pml: { comment: /\/\/[^\n]*|\/\*[\s\S]*?\*\//y, words: "_last _nr_pr _pid active assert atomic bit bool break byte c_code c_decl c_expr c_state c_track chan D_proctype d_step do else empty enabled eval false fi for full get_priority goto hidden if init inline int len local ltl mtype nempty never nfull notrace np_ od of pc_value pid printf printm priority proctype provided run select set_priority short show skip timeout trace true typedef unless unsigned xr xs" },
  py: { comment: /#[^\n]*/y, words: "and as assert class def elif else False for from if import in is lambda match case None not or pass return True while with yield" },
};

const MARGIN_LINES = 3; // above a rule that is shown

const SUFFIXES = { pm: "pml", prm: "pml", pr: "pml", prom: "pml", promela: "pml", spin: "pml" }; // other endings of files in a language

function languageOf(file) {
  const suffix = (file.split(".").pop() || "").toLowerCase();
  return LANGUAGES[SUFFIXES[suffix] || suffix] || LANGUAGES.m;
}

// Pieces [kind, begin, end] of a text: comments, strings, numbers, words of the language; the rest is plain.
function tokens(text, language) {
  const words = new Set(language.words.split(" "));
  const patterns = [["comment", language.comment], ["string", /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y], ["number", /\b\d+(?:\.\d+)?\b/y], ["word", /[A-Za-z_]\w*/y], ["", /[\s\S]/y]];
  const found = [];
  let at = 0;
  while (at < text.length) {
    for (const [kind, pattern] of patterns) {
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (!match || !match[0]) continue;
      const end = at + match[0].length;
      const isKeyword = kind === "word" && words.has(language.isCaseless ? match[0].toLowerCase() : match[0]);
      found.push([kind === "word" ? (isKeyword ? "keyword" : "") : kind, at, end]);
      at = end;
      break;
    }
  }
  return found;
}

// The text from `begin` to `end` as elements. `marks`: [begin, end, class, title], which lie inside one another or apart.
function highlighted(pieces, text, begin, end, marks) {
  const edges = new Set([begin, end]);
  for (const [from, to] of [...pieces.map((each) => [each[1], each[2]]), ...marks]) {
    for (const edge of [from, to]) if (edge > begin && edge < end) edges.add(edge);
  }
  const sorted = [...edges].sort((a, b) => a - b);
  return sorted.slice(0, -1).map((from, index) => {
    const to = sorted[index + 1];
    const piece = pieces.find((each) => each[1] <= from && to <= each[2]);
    // Indentation inside a mark is no part of it.
    const isIndent = !text.slice(text.lastIndexOf("\n", from) + 1, to).trim();
    const around = isIndent ? [] : marks.filter((each) => each[0] <= from && to <= each[1]);
    const names = [piece && piece[0], ...around.map((each) => each[2])].filter(Boolean).join(" ");
    const title = around.map((each) => each[3]).filter(Boolean).pop();
    return names ? h("span", { class: names, title }, text.slice(from, to)) : text.slice(from, to);
  });
}

// A view of a source. `show(lines, marks)` brings lines into sight and marks stretches; both may be empty.
function sourceView(source, id) {
  const text = source.text;
  const pieces = tokens(text, languageOf(source.file));
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  if (starts[starts.length - 1] === text.length && starts.length > 1) starts.pop();
  const lineEnd = (line) => (line < starts.length ? starts[line] - 1 : text.length);
  // Which pieces touch a line, found once.
  const ofLine = starts.map(() => []);
  let line = 0;
  for (const piece of pieces) {
    while (line + 1 < starts.length && starts[line + 1] <= piece[1]) line += 1;
    for (let each = line; each < starts.length && starts[each] < piece[2]; each += 1) ofLine[each].push(piece);
  }
  const row = (number, marks) => highlighted(ofLine[number - 1], text, starts[number - 1], lineEnd(number), marks.filter((mark) => mark[0] < lineEnd(number) && starts[number - 1] < mark[1]));
  const rows = starts.map((_, index) => h("li", { id: id && `${id}-${index + 1}` }, h("code", {}, row(index + 1, []))));
  const element = h("ol", { class: "source", tabindex: "0", "aria-label": `Source of ${source.file}` }, rows);
  element.style.setProperty("--digits", String(String(rows.length).length));
  let marked = [];
  let top = 1; // the first line that matters

  function show(lines, marks) {
    for (const number of marked) {
      rows[number - 1].classList.remove("fired");
      rows[number - 1].firstChild.replaceChildren(...row(number, []));
    }
    marked = [];
    const touched = new Set();
    for (let number = lines[0]; number <= Math.min(lines[1], rows.length); number += 1) touched.add(number);
    for (const [from, to] of marks) starts.forEach((start, index) => { if (start < to && from < lineEnd(index + 1)) touched.add(index + 1); });
    for (const number of touched) {
      if (number >= lines[0] && number <= lines[1]) rows[number - 1].classList.add("fired");
      rows[number - 1].firstChild.replaceChildren(...row(number, marks));
      marked.push(number);
    }
    top = lines[0] <= lines[1] ? lines[0] : Math.min(lines[0], ...touched);
    scroll();
  }

  function scroll() {
    const first = rows[Math.max(0, top - 1 - MARGIN_LINES)];
    if (first) element.scrollTop = first.offsetTop - rows[0].offsetTop;
  }

  // Lines wrap at another place when the width changes.
  let width = 0;
  new ResizeObserver(() => {
    if (element.clientWidth !== width && marked.length) scroll();
    width = element.clientWidth;
  }).observe(element);

  return { element, show, lineOf: (offset) => starts.filter((start) => start <= offset).length };
}

// A few lines around a position, with the position's line marked.
function excerpt(source, position, around) {
  const lines = source.text.split("\n");
  const [from, to] = [Math.max(1, position.line - around), Math.min(lines.length, position.line + around)];
  const view = sourceView({ file: source.file, text: lines.slice(from - 1, to).join("\n") });
  view.element.start = from;
  view.element.style.setProperty("--first", String(from - 1));
  view.show([position.line - from + 1, position.line - from + 1], []);
  return view.element;
}

// A position that opens the source, where the file carries it.
function linked(source, position, text) {
  const shown = text || place(position);
  if (!source || position.file !== source.file) return h("code", {}, shown);
  return h("a", { class: "position", href: `#line-${position.line}`, onclick: () => openSource(position.line) }, h("code", {}, shown));
}

function openSource(line) {
  const section = document.getElementById("source");
  if (!section) return;
  section.querySelector("details").open = true;
  for (const each of section.querySelectorAll("li.fired")) each.classList.remove("fired");
  const row = document.getElementById(`line-${line}`);
  if (row) row.classList.add("fired");
}
