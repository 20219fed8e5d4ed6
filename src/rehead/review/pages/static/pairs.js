// By confusion pair: a grid; uncheck the exceptions, Enter.

import { get, newId } from "./api.js";
import { h, look, number, percent, say } from "./dom.js";

const PAGE = 60;

export class Pairs {
  constructor(app) {
    this.app = app;
    this.pairs = [];
    this.chosen = null;
    this.sent = []; // pairs of this tab's batches, the last one at the end
    this.samples = [];
    this.unchecked = new Set();
    this.asked = 0;
  }

  // Answers to what was asked until now come too late to be shown.
  interrupt() {
    this.asked += 1;
  }

  async show(main) {
    this.main = main;
    if (!this.pairs.length) main.replaceChildren(h("p", { class: "done soft", "aria-busy": "true" }, "Loading …"));
    await this.load();
  }

  async load() {
    this.interrupt();
    const { asked } = this;
    const { pairs } = await get("/api/pairs");
    if (asked !== this.asked) return;
    this.pairs = pairs;
    const same = this.chosen && pairs.find((p) => p.given === this.chosen.given && p.suggested === this.chosen.suggested);
    await this.choose(same && same.undecided ? same : pairs.find((p) => p.undecided) || null);
  }

  async choose(pair) {
    this.interrupt();
    const { asked } = this;
    this.chosen = pair;
    this.unchecked = new Set();
    this.samples = [];
    if (pair) {
      const query = { given: pair.given, suggested: pair.suggested, status: "undecided", n: PAGE };
      const { samples } = await get("/api/list", query);
      if (asked !== this.asked) return;
      this.samples = samples;
    }
    if (this.app.view === "pairs") this.render();
  }

  get checked() {
    return this.samples.filter((one) => !this.unchecked.has(one.row)).map((one) => one.row);
  }

  send(action) {
    const rows = this.checked;
    if (!rows.length || !this.chosen) return;
    this.interrupt();
    const label = action === "keep" ? null : this.chosen.suggested;
    const body = { id: newId(), who: this.app.who, rows, action, label };
    this.app.outbox.add("/api/batch", body, { rows, batch: true });
    this.sent.push({ pair: this.chosen, rows });
    this.app.tell({ rows });
    this.app.review.drop(rows);
    say(`${rows.length} decided. Z takes all of them back.`);
    // At once: the next part of the grid comes when the batch is saved.
    this.samples = this.samples.filter((one) => this.unchecked.has(one.row));
    this.chosen = { ...this.chosen, undecided: this.chosen.undecided - rows.length };
    this.render();
  }

  saved() {
    if (this.app.view === "pairs") this.load();
  }

  // Enter must not change another pair than the one that was taken back.
  undone(rows) {
    const back = new Set(rows);
    const at = this.sent.findLastIndex((one) => one.rows.some((row) => back.has(row)));
    if (at >= 0) this.chosen = this.sent.splice(at, 1)[0].pair;
    return this.load();
  }

  pressed(key, event) {
    if (key === "enter" && !event.target.closest("button, a, summary, input[type=search]")) {
      this.send("suggestion");
      return true;
    }
    if (key === "k") {
      this.send("keep");
      return true;
    }
    if (key.startsWith("arrow") && event.target.matches(".tile input")) {
      this.move(event.target, key);
      return true;
    }
    if (key.startsWith("arrow") && this.unfocused) {
      this.focusFirst();
      return true;
    }
    return false;
  }

  // Nothing in the view has the focus: it was just opened, or what had it is gone.
  get unfocused() {
    return document.activeElement === document.body || document.activeElement === this.main;
  }

  focusFirst() {
    const box = this.main.querySelector(".tile input");
    if (box) box.focus({ preventScroll: true });
  }

  move(from, key) {
    const boxes = [...this.main.querySelectorAll(".tile input")];
    const tops = boxes.map((box) => box.closest(".tile").offsetTop);
    const columns = tops.filter((top) => top === tops[0]).length;
    const step = { arrowleft: -1, arrowright: 1, arrowup: -columns, arrowdown: columns }[key];
    const next = boxes[boxes.indexOf(from) + step];
    if (next) next.focus();
  }

  render() {
    const { classes } = this.app.about;
    const list = h(
      "ul",
      { class: "pairs", "aria-label": "Confusions" },
      this.pairs.map((pair) => {
        const now = this.chosen && pair.given === this.chosen.given && pair.suggested === this.chosen.suggested;
        return h(
          "li",
          {},
          h(
            "button",
            { type: "button", "aria-current": now ? "true" : null, disabled: !pair.undecided, onclick: () => this.choose(pair) },
            h("span", {}, "labelled ", h("b", {}, classes[pair.given]), ", looks like ", h("b", {}, classes[pair.suggested])),
            h("span", { class: "count" }, number(pair.undecided)),
          ),
        );
      }),
    );
    this.main.replaceChildren(h("div", { class: "pairing" }, list, this.grid()));
    if (this.unfocused) this.focusFirst();
  }

  grid() {
    const { classes } = this.app.about;
    if (!this.chosen) {
      return h("div", { class: "done" }, h("h1", {}, "No pairs left"), h("p", {}, "All suspects are decided."));
    }
    const { given, suggested, undecided } = this.chosen;
    const change = h("button", { type: "button", class: "main", onclick: () => this.send("suggestion") });
    const keep = h("button", { type: "button", onclick: () => this.send("keep") });
    const name = () => {
      const n = this.checked.length;
      change.replaceChildren(`Change ${n} to ${classes[suggested]} `, h("kbd", {}, "Enter"));
      keep.replaceChildren(`Keep ${classes[given]} for ${n} `, h("kbd", {}, "K"));
      change.disabled = keep.disabled = n === 0;
    };
    const tiles = this.samples.map((one) => this.tile(one, name));
    name();
    return h(
      "section",
      { class: "grid" },
      h("h1", {}, "Labelled ", h("b", {}, classes[given]), ", looks like ", h("b", {}, classes[suggested]), `: ${number(undecided)}`),
      h("p", { class: "soft" }, "Uncheck the exceptions. Arrows move, space unchecks, Enter changes all that are checked; one undo takes back all of them."),
      h("div", { class: "row" }, change, keep),
      h("div", { class: "tiles" }, tiles),
      undecided > this.samples.length ? h("p", { class: "soft" }, `The worst ${this.samples.length} are shown; the others follow.`) : null,
    );
  }

  tile(one, changed) {
    const box = h("input", {
      type: "checkbox",
      checked: !this.unchecked.has(one.row),
      "aria-label": `Sample ${one.id}`,
      onchange: () => {
        if (box.checked) this.unchecked.delete(one.row);
        else this.unchecked.add(one.row);
        changed();
      },
    });
    return h("label", { class: "tile", title: one.id }, box, look(one.sample, one.row, this.app.about.run, "small", one.id), h("span", { class: "soft" }, `right: ${percent(one.quality)}`));
  }
}
