// The states of a trace: from ITF to a tree of names and texts, and the differences between states.
//
// A node is {name, path, children} or {name, path, text, isUndefined} or, for a multiset, {name, path, bag}: elements are
// shown whole, since they have no order and therefore no names. A channel of Promela is one text, with its messages.

function isUndefined(value) {
  return value !== null && typeof value === "object" && value["#unserializable"] === "undefined";
}

function simpleText(value) {
  if (value !== null && typeof value === "object") {
    if ("#bigint" in value) return value["#bigint"];
    if ("#unserializable" in value) return String(value["#unserializable"]);
    return JSON.stringify(value);
  }
  return String(value);
}

// The name of a number, where its type has one.
function labelOf(type, value) {
  if (isUndefined(value) && type.undefined) return type.undefined;
  return (type.labels && type.labels[value - type.low]) ?? simpleText(value);
}

// A type, for documents that do not give one.
function guessed(value) {
  if (value === null || typeof value !== "object" || "#bigint" in value || "#unserializable" in value) return { kind: "simple" };
  if ("#map" in value) return { kind: "array", element: null };
  return { kind: "record", fields: Object.keys(value).map((name) => ({ name, type: null })) };
}

function nodeOf(name, path, type, value) {
  const kind = type || guessed(value);
  if (kind.kind === "record" && kind.text && kind.text.startsWith("chan ")) {
    return { name, path, text: messagesText(kind.fields[1].type.element, value), isUndefined: false };
  }
  if (kind.kind === "record") {
    return { name, path, children: kind.fields.map((each) => nodeOf(each.name, `${path}.${each.name}`, each.type, value[each.name])) };
  }
  if (kind.kind === "array") {
    return {
      name, path,
      children: value["#map"].map(([index, element]) => {
        const text = `[${simpleText(index)}]`;
        return nodeOf(text, path + text, kind.element, element);
      }),
    };
  }
  if (kind.kind === "multiset") {
    const bag = value["#map"].flatMap(([element, count]) => Array(count).fill(wholeText(kind.element, element)));
    return { name, path, bag: bag.sort(byCodePoint) };
  }
  return { name, path, text: labelOf(kind, value), isUndefined: isUndefined(value) };
}

// The messages that a channel holds, the oldest first.
function messagesText(type, { length, messages }) {
  const held = messages["#map"].slice(0, length).map(([, message]) => leavesOf([nodeOf("", "", type, message)]));
  return held.map((leaves) => `[${leaves.map((each) => each.text).join()}]`).join("") || "empty";
}

// As Python orders strings.
function byCodePoint(a, b) {
  const [one, other] = [Array.from(a), Array.from(b)];
  for (let at = 0; at < Math.min(one.length, other.length); at += 1) {
    const order = one[at].codePointAt(0) - other[at].codePointAt(0);
    if (order) return order;
  }
  return one.length - other.length;
}

function hasValue(node) {
  if (node.children) return node.children.some(hasValue);
  return node.bag ? node.bag.length > 0 : !node.isUndefined;
}

// The word of the language for no value.
function undefinedText(nodes) {
  return (leavesOf(nodes).find((leaf) => leaf.isUndefined) || { text: "undefined" }).text;
}

// A value on one line; parts that are undefined are left out of records and arrays.
function wholeText(type, value) {
  const text = (node) => {
    if (node.bag) return `{${node.bag.join(", ")}}`;
    if (!node.children) return node.text;
    return `(${node.children.filter(hasValue).map((each) => `${each.name}: ${text(each)}`).join(", ")})`;
  };
  return text(nodeOf("", "", type, value));
}

// The nodes of the variables of a state.
function nodesOf(variables, state) {
  return variables.map((each) => nodeOf(each.name, each.name, each.type, state[each.name]));
}

function variablesOf(document, trace) {
  const known = new Map((document.variables || []).map((each) => [each.name, each.type]));
  return trace.vars.map((name) => ({ name, type: known.get(name) || null }));
}

// Whether a node reads better as a table: rows and columns of simple values.
function isGrid(node) {
  const rows = node.children;
  if (rows.length < 2 || rows.length > 16 || rows.some((row) => !row.children || row.children.length < 2)) return false;
  const names = rows[0].children.map((each) => each.name).join("\n");
  return rows[0].children.length <= 12 && rows.every((row) => row.children.map((each) => each.name).join("\n") === names && row.children.every((each) => !each.children && !each.bag));
}

// Leaves and multisets, in order.
function leavesOf(nodes) {
  return nodes.flatMap((node) => (node.children ? leavesOf(node.children) : [node]));
}

// The elements of `bag` without those of `other`, counting repetitions.
function surplus(bag, other) {
  const left = [...other];
  return bag.filter((element) => {
    const at = left.indexOf(element);
    if (at < 0) return true;
    left.splice(at, 1);
    return false;
  });
}

// By path, {was, now} of leaves and {added, removed} of multisets that differ.
function changesOf(before, after) {
  const changes = new Map();
  if (!before) return changes;
  const old = new Map(leavesOf(before).map((leaf) => [leaf.path, leaf]));
  for (const leaf of leavesOf(after)) {
    const was = old.get(leaf.path);
    if (!was) continue;
    if (leaf.bag) {
      const [added, removed] = [surplus(leaf.bag, was.bag), surplus(was.bag, leaf.bag)];
      if (added.length || removed.length) changes.set(leaf.path, { added, removed });
    } else if (leaf.text !== was.text) {
      changes.set(leaf.path, { was: was.text, now: leaf.text });
    }
  }
  return changes;
}
