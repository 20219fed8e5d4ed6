// Which samples are asked for.

import { h } from "./dom.js";

const TITLES = {
  given: "Labelled",
  suggested: "Looks like",
  kind: "Kind",
  layer: "Layer that disagrees",
  reviewer: "Reviewer",
  status: "Status",
  scope: "Samples",
};

export class Filters {
  constructor(about, changed) {
    this.about = about;
    this.changed = changed;
    this.values = {};
    this.reviewers = [];
  }

  get active() {
    return Object.keys(this.values).length;
  }

  query() {
    return { ...this.values };
  }

  set(name, value) {
    if (value === "" || value === null) delete this.values[name];
    else this.values[name] = value;
    this.changed();
  }

  clear() {
    this.values = {};
    this.changed();
  }

  element() {
    const { classes, kinds, layers, statuses } = this.about;
    const byClass = classes.map((name, code) => [String(code), name]);
    const same = (names) => names.map((name) => [name, name]);
    const choices = {
      given: byClass,
      suggested: byClass,
      kind: same(kinds),
      status: same(statuses),
      reviewer: same(this.reviewers),
      ...(layers.length ? { layer: same(layers) } : {}),
      scope: [["all", "all, not only suspects"]],
    };
    const fields = Object.entries(choices).map(([name, options]) =>
      h(
        "label",
        { class: "field" },
        h("span", {}, TITLES[name]),
        h(
          "select",
          { name, onchange: (event) => this.set(name, event.target.value) },
          h("option", { value: "" }, name === "scope" ? "suspects" : "any"),
          options.map(([value, text]) => {
            const option = h("option", { value }, text);
            option.selected = this.values[name] === value;
            return option;
          }),
        ),
      ),
    );
    const clear = h("button", { type: "button", class: "quiet", onclick: () => this.clear(), disabled: !this.active }, "Clear");
    const box = h(
      "details",
      { class: "filters" },
      h("summary", {}, this.active ? `Filter (${this.active})` : "Filter"),
      h("div", { class: "fields" }, fields, clear),
    );
    box.open = this.open ?? this.active > 0;
    box.addEventListener("toggle", () => {
      this.open = box.open;
    });
    return box;
  }
}
