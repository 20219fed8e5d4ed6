// All samples that match, worst first: only what is in sight is in the page.

import { get } from "./api.js";
import { h, look, number, percent } from "./dom.js";

const HEIGHT = 64;
const PAGE = 100;
const TALLEST = 8_000_000; // browsers do not lay out much more than that

export class List {
  constructor(app) {
    this.app = app;
    this.pages = new Map();
    this.total = null;
    this.at = 0;
  }

  show(main) {
    this.main = main;
    this.pages.clear();
    this.total = null;
    this.inner = h("div", { class: "inner" });
    this.box = h("div", { class: "scroll", tabindex: "0", role: "listbox", "aria-label": "Samples, worst first" }, this.inner);
    this.box.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()));
    this.box.addEventListener("keydown", (event) => this.keyed(event));
    this.head = h("p", { class: "soft", role: "status" }, "Loading …");
    main.replaceChildren(this.app.filters.element(), this.head, this.box);
    this.page(0);
  }

  reset() {
    this.at = 0;
    if (this.app.view === "list") this.show(this.main);
  }

  get rowHeight() {
    return Math.min(HEIGHT, TALLEST / Math.max(this.total, 1));
  }

  async page(number_) {
    if (this.pages.has(number_)) return;
    this.pages.set(number_, null);
    const { pages } = this;
    const found = await get("/api/list", { ...this.app.filters.query(), start: number_ * PAGE, n: PAGE });
    if (pages !== this.pages || this.app.view !== "list") return;
    this.total = found.total;
    this.pages.set(number_, found.samples);
    if (this.pages.size > 40) this.pages.delete([...this.pages.keys()].find((key) => Math.abs(key - number_) > 3));
    this.head.textContent = `${number(found.total)} samples, worst first. Arrows move, Enter opens one.`;
    this.inner.style.height = `${Math.min(found.total * HEIGHT, TALLEST)}px`;
    this.draw();
  }

  draw() {
    if (this.total === null) return;
    const share = this.total * HEIGHT > TALLEST ? this.box.scrollTop / (TALLEST - this.box.clientHeight) : null;
    const visible = Math.ceil(this.box.clientHeight / HEIGHT) + 1;
    const first = share === null ? Math.floor(this.box.scrollTop / HEIGHT) : Math.round(share * (this.total - visible + 1));
    const start = Math.max(0, first - 3);
    const end = Math.min(this.total, first + visible + 3);
    const lines = [];
    for (let i = start; i < end; i += 1) {
      const page = this.pages.get(Math.floor(i / PAGE));
      if (!page) this.page(Math.floor(i / PAGE));
      lines.push(this.line(i, page && page[i % PAGE], share === null ? i * HEIGHT : this.box.scrollTop + (i - first) * HEIGHT));
    }
    this.inner.replaceChildren(...lines);
    this.box.setAttribute("aria-activedescendant", `line-${this.at}`);
  }

  line(i, one, top) {
    const { about } = this.app;
    const element = h(
      "div",
      { class: "line", role: "option", id: `line-${i}`, "aria-selected": String(i === this.at), "aria-posinset": i + 1, "aria-setsize": this.total },
      one
        ? [
            h("span", { class: "thumb" }, look(one.sample, one.row, about.run, "small", one.id)),
            h("span", { class: "name" }, one.id),
            h("span", { class: "labels" }, h("b", {}, about.classes[one.given]), one.other === one.given ? "" : [" → ", h("b", {}, about.classes[one.other])]),
            h("span", { class: "quality" }, percent(one.quality)),
            h("span", { class: "kind" }, one.kind),
            h("span", { class: `tag ${one.status}` }, one.status),
          ]
        : h("span", { class: "soft" }, "…"),
    );
    element.style.transform = `translateY(${top}px)`;
    if (one) element.addEventListener("click", () => this.app.review.open(one.row));
    return element;
  }

  keyed(event) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / HEIGHT) - 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
    if (event.key === "Enter") {
      const line = this.pages.get(Math.floor(this.at / PAGE))?.[this.at % PAGE];
      if (line) this.app.review.open(line.row);
    } else if (event.key === "Home") this.at = 0;
    else if (event.key === "End") this.at = Math.max(0, this.total - 1);
    else if (step) this.at = Math.max(0, Math.min(this.total - 1, this.at + step));
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.reveal();
  }

  reveal() {
    const top = this.at * this.rowHeight;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + HEIGHT > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + HEIGHT - this.box.clientHeight;
    this.draw();
  }
}
