// The context of a step: the text of its rule, its guard with values, and the other enabled rules.

// A button for each of several panels; one panel is shown at a time. `panels`: [name, element, onShow].
function tabs(panels) {
  const buttons = panels.map(([name], index) => h("button", { type: "button", class: "tab", "aria-pressed": index === 0 ? "true" : "false", onclick: () => choose(index) }, name));
  function choose(chosen) {
    panels.forEach(([, element, onShow], index) => {
      element.hidden = index !== chosen;
      buttons[index].setAttribute("aria-pressed", index === chosen ? "true" : "false");
      if (index === chosen && onShow) onShow();
    });
  }
  panels.forEach(([, element], index) => { element.hidden = index !== 0; });
  return h("div", { class: "tabs", role: "group", "aria-label": "Views of this step" }, buttons);
}

// The rule that fired in the model's text. At the last step also the false parts of the condition.
function sourcePanel(source, violation, contexts, last) {
  const view = sourceView(source);
  const guard = h("ul", { class: "guard" });
  const element = h("div", { class: "source-panel" }, guard, view.element);
  const condition = violation.condition && violation.condition.position && violation.condition.position.file === source.file ? violation.condition : null;
  const conditionStart = condition ? source.text.split("\n").slice(0, condition.position.line - 1).join("\n").length + (condition.position.line > 1 ? 1 : 0) + condition.position.column - 1 : 0;

  function show(step) {
    const context = contexts[step] || failing();
    const parts = context.guard || [];
    guard.replaceChildren(...parts.map((each) => h("li", {}, h("span", { class: "good", "aria-label": "true" }, "✓ "), h("code", {}, each.text))));
    guard.hidden = !parts.length;
    const marks = parts.map((each) => [...each.span, "guarded", each.text]);
    if (step === last && condition) for (const [from, to] of condition.false) marks.push([conditionStart + from, conditionStart + to, "false", "false here"]);
    const isHere = context.file === source.file;
    view.show(isHere ? context.lines : [1, 0], isHere ? marks : []);
  }
  // The step after the last state: where a rule fails.
  function failing() {
    const { file, line } = violation.position || {};
    return { file, lines: [line, line] };
  }
  return { element, show };
}

// The rules that the state after a step enables; the one that the trace continues with is marked.
function nextPanel(contexts, steps, loop, violation) {
  const list = h("ul", { class: "next" });
  const head = h("p", { class: "soft" });
  const element = h("div", {}, head, list);

  function show(step) {
    const { enabled, more } = contexts[step];
    if (!enabled) {
      head.textContent = "Enabled rules are listed only for the first steps of a long trace.";
      return list.replaceChildren();
    }
    const taken = step + 1 < steps.length ? steps[step + 1].label : loop !== null ? loop.rule : violation.failing_rule || null;
    const count = enabled.length + more;
    head.textContent = count ? `${plural(count, "rule")} ${count === 1 ? "is" : "are"} enabled in this state.` : "No rule is enabled in this state.";
    return list.replaceChildren(...enabled.map((each) => h("li", { class: each.label === taken ? "taken" : "" },
      h("span", { "aria-hidden": "true" }, each.label === taken ? "→ " : "· "), labelled(each.label),
      each.label === taken && h("span", { class: "soft" }, " the trace goes on with this"),
      each.failure && h("span", { class: "bad" }, ` fails: ${each.failure}`))), ...(more ? [h("li", { class: "soft" }, `and ${number(more)} more`)] : []));
  }
  return { element, show };
}
