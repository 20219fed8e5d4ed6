// One sample at a time: one key decides, saves, and shows the next.

import { get, newId } from "./api.js";
import { bar, byId, h, look, percent, say } from "./dom.js";

const HELD = 8;
const FEW = 5;
const ELSEWHERE = 10_000; // ms in which a decision of another tab reaches the server

export class Review {
  constructor(app) {
    this.app = app;
    this.queue = [];
    this.asking = null;
    this.round = 0;
    this.empty = false;
    this.decidedMeanwhile = new Map(); // row: when
  }

  get current() {
    return this.queue[0] || null;
  }

  show(main) {
    this.main = main;
    this.render();
    this.fill();
  }

  // Other samples are wanted: forget those that are held.
  reset() {
    this.round += 1;
    this.queue = this.queue.filter((card) => card.error);
    this.asking = null;
    this.empty = false;
    this.decidedMeanwhile.clear();
    if (this.app.view === "review") {
      this.render();
      this.fill();
    }
  }

  // Decided elsewhere: in another tab, or as part of a batch.
  drop(rows) {
    const gone = new Set(rows);
    this.remember(rows);
    const first = this.current;
    this.queue = this.queue.filter((card) => !gone.has(card.row) || card.error);
    if (this.current !== first && this.app.view === "review") this.render();
    this.fill();
  }

  // An answer that is on its way may still hold them, and so may the next one: another tab sends
  // them when it can.
  remember(rows) {
    const now = Date.now();
    for (const [row, then] of this.decidedMeanwhile) if (now - then > ELSEWHERE) this.decidedMeanwhile.delete(row);
    for (const row of rows) this.decidedMeanwhile.set(row, now);
  }

  async fill() {
    if (this.asking || this.queue.length >= FEW) return;
    const { round } = this;
    this.remember([]);
    const waiting = this.app.outbox.items.flatMap((item) => item.about.rows || []);
    const holding = [...this.queue.map((card) => card.row), ...waiting, ...this.decidedMeanwhile.keys()].join(",");
    const query = { who: this.app.who, n: HELD - this.queue.length, holding, ...this.app.filters.query() };
    this.asking = get("/api/next", query).then(
      ({ samples }) => {
        if (round !== this.round) return;
        this.asking = null;
        const held = new Set([...this.queue.map((card) => card.row), ...this.decidedMeanwhile.keys()]);
        const first = this.current;
        const fresh = samples.filter((card) => !held.has(card.row));
        this.queue.push(...fresh);
        const none = samples.length === 0;
        this.empty = none && this.decidedMeanwhile.size === 0;
        if (none && !this.empty) setTimeout(() => this.fill(), 1000);
        for (const card of samples) this.preload(card);
        if (!first && this.app.view === "review") this.render();
        if (fresh.length < samples.length) this.fill();
      },
      (error) => {
        if (round !== this.round) return;
        this.asking = null;
        if (!this.current && this.app.view === "review") this.failed(error);
      },
    );
  }

  preload(card) {
    if (card.sample.kind === "image") new Image().src = `/picture/${this.app.about.run}/${card.row}/large`;
  }

  async open(row) {
    this.put(await get(`/api/sample/${row}`));
  }

  // Show this card now, whatever is in the queue.
  put(card) {
    this.decidedMeanwhile.delete(card.row);
    this.queue = [card, ...this.queue.filter((other) => other.row !== card.row)];
    this.app.go("review");
  }

  decide(action, label = null) {
    const card = this.current;
    if (!card) return;
    this.queue.shift();
    if (this.asking && action !== "skip") this.remember([card.row]);
    const body = { id: newId(), who: this.app.who, ticket: card.ticket, action, label };
    const about = { rows: [card.row], card: { ...card, error: undefined } };
    this.app.outbox.add("/api/decide", body, about);
    this.app.tell({ rows: [card.row] });
    this.render();
    const next = this.current ? ` Next: ${this.spoken(this.current)}` : "";
    say(`${this.inWords(action, label, card)}.${next}`);
    this.fill();
  }

  // A decision that the server refused comes back, in red.
  back(card, message) {
    this.queue = [{ ...card, error: message }, ...this.queue.filter((other) => other.row !== card.row)];
    if (this.app.view === "review") this.render();
  }

  async another() {
    const card = this.current;
    if (!card) return;
    const code = await this.app.chooser.ask(card.given);
    if (code === null || this.current !== card) return;
    this.choose(code);
  }

  choose(code) {
    const card = this.current;
    if (!card || code === undefined) return;
    if (code === card.given) return this.decide("keep");
    this.app.chooser.remember(code);
    this.decide(code === card.other ? "suggestion" : "other", code);
  }

  suggestion() {
    if (this.current) this.decide("suggestion", this.current.other);
  }

  pressed(key) {
    const keys = {
      k: () => this.decide("keep"),
      s: () => this.suggestion(),
      c: () => this.another(),
      "/": () => this.another(),
      o: () => this.decide("out of scope"),
      u: () => this.decide("unsure"),
      n: () => this.decide("skip"),
    };
    if (keys[key]) {
      keys[key]();
      return true;
    }
    if (/^[1-9]$/.test(key)) {
      this.choose(this.app.chooser.recent[Number(key) - 1]);
      return true;
    }
    return false;
  }

  spoken(card) {
    const { classes } = this.app.about;
    return `labelled ${classes[card.given]}, perhaps ${classes[card.other]}`;
  }

  inWords(action, label, card) {
    const { classes } = this.app.about;
    if (action === "keep") return `Kept ${classes[card.given]}`;
    return label === null ? action : `Changed to ${classes[label]}`;
  }

  failed(error) {
    const again = h("button", { type: "button", class: "main", onclick: () => this.fill() }, "Try again");
    this.main.replaceChildren(h("div", { class: "done" }, h("h1", {}, "The server does not answer"), h("p", {}, error.message), again));
    setTimeout(() => {
      if (!this.current && this.app.view === "review") this.fill();
    }, 2000);
  }

  render() {
    const card = this.current;
    const filters = this.app.filters.element();
    if (!card) {
      this.main.replaceChildren(filters, this.nothing());
      return;
    }
    const { about } = this.app;
    const disputed = card.decisions.length > 0;
    const body = h(
      "article",
      { class: `card${card.error ? " red" : ""}`, "aria-label": `Sample ${card.id}`, "data-row": card.row },
      h(
        "div",
        { class: "left" },
        card.error ? h("p", { class: "error", role: "alert" }, `Not saved: ${card.error}`) : null,
        h("figure", { class: `sample ${card.sample.kind}` }, look(card.sample, card.row, about.run, "large", card.id), h("figcaption", { class: "soft" }, card.id)),
        this.neighbours(card),
      ),
      h("div", { class: "right" }, disputed ? this.earlier(card) : null, this.choices(card), this.actions(), this.opinion(card)),
    );
    const pressed = document.activeElement?.getAttribute("aria-keyshortcuts");
    this.main.replaceChildren(filters, this.enough(), body);
    // Who goes by Tab stays where they were.
    if (pressed) this.main.querySelector(`[aria-keyshortcuts="${pressed}"]`)?.focus();
  }

  // Suspects are done: one may stop, and should know it.
  enough() {
    const { progress, filters } = this.app;
    if (!progress || progress.suspects_left > 0 || filters.active) return "";
    return h("p", { class: "enough" }, h("b", {}, "All suspects are answered. "), "What follows is drawn at random from the others: each one narrows the range of what is left. You may stop here, or ", this.worstFirst());
  }

  worstFirst() {
    return h("button", { type: "button", onclick: () => this.app.filters.set("scope", "all") }, "Go on worst first");
  }

  nothing() {
    if (!this.empty) return h("p", { class: "done soft", "aria-busy": "true" }, "Loading …");
    const text = this.app.filters.active ? "Nothing matches the filter any more." : "Every sample is decided.";
    return h("div", { class: "done" }, h("h1", {}, "Done"), h("p", {}, text), h("p", {}, h("a", { href: "#progress" }, "See how far you are, export, or fit the head again.")));
  }

  choices(card) {
    const { classes } = this.app.about;
    const choice = (kind, key, title, code, p, run) =>
      h(
        "button",
        { type: "button", class: `choice ${kind}`, onclick: run, "aria-keyshortcuts": key },
        h("span", { class: "title" }, title, h("kbd", { "aria-hidden": "true" }, key)),
        h("strong", {}, classes[code]),
        h("span", { class: "p" }, p === null ? "\u00a0" : percent(p), p === null ? null : bar(p, kind)),
      );
    const { opinion } = card;
    return h(
      "div",
      { class: "choices" },
      choice("given", "K", "Given: keep", card.given, opinion && opinion.given, () => this.decide("keep")),
      choice("other", "S", opinion ? "Suggested: take" : "Or: take", card.other, opinion && opinion.other, () => this.suggestion()),
    );
  }

  actions() {
    const action = (key, text, run) =>
      h("button", { type: "button", onclick: run, "aria-keyshortcuts": key }, h("span", {}, text), h("kbd", { "aria-hidden": "true" }, key));
    const { classes } = this.app.about;
    const recent = this.app.chooser.recent.map((code, i) =>
      h("button", { type: "button", class: "recent", onclick: () => this.choose(code) }, h("kbd", {}, String(i + 1)), h("span", {}, classes[code])),
    );
    return h(
      "div",
      { class: "actions" },
      h(
        "div",
        { class: "row" },
        action("C", "Other class", () => this.another()),
        action("O", "Out of scope", () => this.decide("out of scope")),
        action("U", "Unsure", () => this.decide("unsure")),
        action("N", "Skip", () => this.decide("skip")),
        action("Z", "Undo", () => this.app.undo()),
      ),
      recent.length ? h("div", { class: "row recents", role: "group", "aria-label": "Classes chosen before" }, recent) : null,
    );
  }

  opinion(card) {
    if (!card.opinion) {
      return h("p", { class: "blind" }, "The model's opinion is hidden for this one: judge by what you see.");
    }
    const { classes } = this.app.about;
    const lines = card.opinion.layers.map((layer) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, layer.name),
        h("td", {}, bar(layer.given, "given"), h("span", {}, percent(layer.given))),
        h("td", {}, bar(layer.other, "other"), h("span", {}, percent(layer.other))),
        h("td", { class: "best" }, classes[layer.best]),
      ),
    );
    const table = h(
      "table",
      { class: "layers" },
      h("caption", {}, "What each layer says"),
      h("thead", {}, h("tr", {}, ["Layer", classes[card.given], classes[card.other], "its best"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, lines),
    );
    return h("div", { class: "opinion" }, h("p", { class: "kind" }, "Looks like: ", h("b", {}, card.opinion.kind)), lines.length ? table : null);
  }

  neighbours(card) {
    const { about } = this.app;
    const group = (kind, code, near) =>
      h(
        "div",
        { class: `near ${kind}` },
        h("h2", {}, "Trusted ", h("b", {}, about.classes[code]), " nearby"),
        near.length
          ? h("ul", {}, near.map((one) => h("li", { title: one.id }, look(one.sample, one.row, about.run, "small", one.id))))
          : h("p", { class: "soft" }, "none"),
      );
    return h("section", { class: "neighbours", "aria-label": "Trusted samples nearby" }, group("given", card.given, card.neighbours.given), group("other", card.other, card.neighbours.other));
  }

  earlier(card) {
    const { classes } = this.app.about;
    const words = (d) => (d.label === null ? d.action : `${d.action === "keep" ? "keep" : "change to"} ${classes[d.label]}`);
    const names = new Set(card.decisions.map((d) => d.who));
    const title = names.size > 1 ? "Reviewers have decided:" : "Decided before:";
    return h("div", { class: "earlier" }, h("h2", {}, title), h("ul", {}, card.decisions.map((d) => h("li", {}, h("b", {}, d.who), `: ${words(d)}`))));
  }
}

export const focusMain = () => byId("main").focus({ preventScroll: true });
