// Labels of rules.

// A rule's label with its parameters, ", name: value" at its end, in another style.
function labelled(label) {
  const cut = label.search(/(?:, [A-Za-z_]\w*: [^,]*)+$/);
  return cut < 0 ? label : [label.slice(0, cut), " ", h("code", { class: "soft" }, label.slice(cut + 2))];
}
