// Another class: a search box that works with hundreds of them.

import { byId, h } from "./dom.js";

const MOST = 50;

export class Chooser {
  constructor(classes, run) {
    this.classes = classes;
    this.key = `rehead-recent-${run}`;
    this.recent = JSON.parse(localStorage.getItem(this.key) || "[]").filter((code) => code < classes.length);
    this.dialog = byId("chooser");
    this.input = byId("chooser-input");
    this.list = byId("chooser-list");
    this.input.addEventListener("input", () => this.show());
    this.input.addEventListener("keydown", (event) => this.pressed(event));
    this.dialog.addEventListener("close", () => this.finish(null));
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
  }

  // The code of the class that was chosen, or null.
  ask(without) {
    this.without = without;
    this.input.value = "";
    this.show();
    this.dialog.showModal();
    this.input.focus();
    return new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  remember(code) {
    this.recent = [code, ...this.recent.filter((other) => other !== code)].slice(0, 9);
    localStorage.setItem(this.key, JSON.stringify(this.recent));
  }

  show() {
    const asked = this.input.value.trim().toLowerCase();
    const found = [];
    for (const [code, name] of this.classes.entries()) {
      const at = name.toLowerCase().indexOf(asked);
      if (code !== this.without && at >= 0) found.push([at === 0 ? 0 : 1, code]);
    }
    found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    this.found = found.map(([, code]) => code);
    this.at = 0;
    this.list.replaceChildren(
      ...this.found.slice(0, MOST).map((code, i) =>
        h("li", { role: "option", id: `class-${i}`, onclick: () => this.finish(code) }, this.classes[code]),
      ),
    );
    const more = this.found.length - MOST;
    byId("chooser-count").textContent =
      this.found.length === 0 ? "No class has this in its name." : more > 0 ? `${more} more: type on.` : "";
    this.mark();
  }

  mark() {
    [...this.list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === this.at)));
    const item = this.list.children[this.at];
    if (item) {
      this.input.setAttribute("aria-activedescendant", item.id);
      item.scrollIntoView({ block: "nearest" });
    } else this.input.removeAttribute("aria-activedescendant");
  }

  pressed(event) {
    const last = this.list.children.length - 1;
    if (event.key === "ArrowDown") this.at = Math.min(this.at + 1, last);
    else if (event.key === "ArrowUp") this.at = Math.max(this.at - 1, 0);
    else if (event.key === "Enter") {
      event.preventDefault();
      if (this.found.length) this.finish(this.found[this.at]);
      return;
    } else return;
    event.preventDefault();
    this.mark();
  }

  finish(code) {
    const { resolve } = this;
    this.resolve = null;
    if (this.dialog.open) this.dialog.close();
    if (resolve) resolve(code);
  }
}
