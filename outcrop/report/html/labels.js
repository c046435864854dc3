// Labels of rules.

// A rule's label with its parameters in another style.
function labelled(label) {
  const cut = label.indexOf(", ");
  return cut < 0 ? label : [label.slice(0, cut), " ", h("code", { class: "soft" }, label.slice(cut + 2))];
}
