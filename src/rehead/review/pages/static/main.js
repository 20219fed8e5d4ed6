// The page: which view is open, who reviews, what every key does.

import { get, newId } from "./api.js";
import { Chooser } from "./chooser.js";
import { byId, counted, h, number, say } from "./dom.js";
import { Filters } from "./filters.js";
import { List } from "./list.js";
import { Outbox } from "./outbox.js";
import { Pairs } from "./pairs.js";
import { Progress, leftInWords } from "./progress.js";
import { Review, focusMain } from "./review.js";

const VIEWS = { r: "review", p: "pairs", l: "list", g: "progress" };

class App {
  constructor(about) {
    this.about = about;
    this.progress = null;
    this.view = "review";
    this.who = localStorage.getItem("rehead-who") || about.who || "reviewer";
    this.filters = new Filters(about, () => this.filtered());
    this.chooser = new Chooser(about.classes, about.run);
    this.review = new Review(this);
    this.pairs = new Pairs(this);
    this.list = new List(this);
    this.progressView = new Progress(this);
    this.tabs = new BroadcastChannel(`rehead-${about.run}`);
    this.tabs.addEventListener("message", (event) => this.review.drop(event.data.rows));
    this.outbox = new Outbox(about.run, {
      saved: (item, answer) => this.saved(item, answer),
      refused: (item, error) => this.refused(item, error),
      changed: (outbox) => this.savingChanged(outbox),
    });
    this.listen();
  }

  listen() {
    const who = byId("who");
    who.value = this.who;
    who.addEventListener("change", () => {
      this.who = who.value.trim() || "reviewer";
      who.value = this.who;
      localStorage.setItem("rehead-who", this.who);
      this.review.reset();
    });
    who.addEventListener("keydown", (event) => {
      if (event.key === "Enter") who.blur();
    });
    const single = byId("single-keys");
    single.checked = localStorage.getItem("rehead-keys") !== "off";
    single.addEventListener("change", () => localStorage.setItem("rehead-keys", single.checked ? "on" : "off"));
    byId("help-button").addEventListener("click", () => byId("help").showModal());
    window.addEventListener("hashchange", () => this.route());
    document.addEventListener("keydown", (event) => this.pressed(event));
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]")) return;
    const typing = event.target.matches("input:not([type=checkbox], [type=range]), select, textarea");
    if (typing) return;
    const key = event.key.toLowerCase();
    const plain = key.length > 1 || byId("single-keys").checked;
    if (key === "?") byId("help").showModal();
    else if (!plain || event.repeat) return;
    else if (key === "z") this.undo();
    else if (this.view === "review" && this.review.pressed(key)) {
      // decided
    } else if (this.view === "pairs" && this.pairs.pressed(key, event)) {
      // decided
    } else if (VIEWS[key]) this.go(VIEWS[key]);
    else return;
    event.preventDefault();
  }

  go(view) {
    if (location.hash === `#${view}`) this.route();
    else location.hash = view;
  }

  async route() {
    const view = location.hash.slice(1) || "review";
    if (!Object.values(VIEWS).includes(view)) return;
    this.view = view;
    for (const link of document.querySelectorAll("nav a")) {
      if (link.dataset.view === view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.body.dataset.view = view;
    const main = byId("main");
    const views = { review: this.review, pairs: this.pairs, list: this.list, progress: this.progressView };
    focusMain();
    try {
      await views[view].show(main);
    } catch (error) {
      main.replaceChildren(h("div", { class: "done" }, h("h1", {}, "This could not be loaded"), h("p", {}, error.message), h("button", { type: "button", class: "main", onclick: () => this.route() }, "Try again")));
    }
  }

  filtered() {
    this.review.reset();
    this.list.reset();
  }

  undo() {
    this.outbox.add("/api/undo", { id: newId(), who: this.who }, { undo: true });
  }

  tell(message) {
    this.tabs.postMessage(message);
  }

  // Answers that come quickly one after the other carry the same count: ask when it is quiet.
  countSoon() {
    clearTimeout(this.counting);
    this.counting = setTimeout(async () => {
      // Where the server is gone, the next answer brings the count.
      if (!this.outbox.waiting) this.heard(await get("/api/progress").catch(() => this.progress));
    }, 600);
  }

  async saved(item, answer) {
    if (answer.progress) this.heard(answer.progress);
    this.countSoon();
    if (item.about.batch) this.pairs.saved();
    if (!item.about.undo) return;
    if (!answer.undone.length) {
      say("There is nothing to undo.");
      this.note("There is nothing to undo.");
      return;
    }
    const n = answer.undone.length;
    const what = n > 1 ? `${number(n)} decisions taken back` : "Taken back";
    say(what);
    this.note(what);
    if (answer.again) this.review.put(answer.again);
    else if (this.view === "pairs") this.pairs.undone(answer.undone);
    else this.review.reset();
  }

  refused(item, error) {
    this.note(`Not saved: ${error.message}`);
    if (item.about.card) this.review.back(item.about.card, error.message);
    else if (item.about.batch) this.pairs.saved();
  }

  // What the line at the top says for a moment.
  note(text) {
    byId("saving").textContent = text;
  }

  savingChanged(outbox) {
    const n = outbox.waiting;
    byId("saving").textContent = n ? `saving ${n} …` : "saved";
    const box = byId("unsaved");
    box.hidden = !outbox.stuck;
    if (!outbox.stuck) return;
    const rows = outbox.items.flatMap((item) => item.about.rows || []);
    const cards = outbox.items.filter((item) => item.about.card).slice(0, 8);
    box.replaceChildren(
      h("p", {}, h("b", {}, `${n} ${n === 1 ? "change is" : "changes are"} not saved yet. `), outbox.error, " They are kept in this tab, and tried again."),
      h("div", { class: "row" },
        h("button", { type: "button", onclick: () => outbox.now() }, "Try now"),
        cards.map(({ about, body }) => h("span", { class: "chip" }, `${about.card.id}: ${body.action}`)),
        rows.length > cards.length && cards.length ? h("span", { class: "chip" }, `and ${rows.length - cards.length} more`) : null),
    );
  }

  heard(progress) {
    this.progress = progress;
    this.filters.reviewers = Object.keys(progress.reviewers);
    const done = progress.suspects - progress.suspects_left;
    const share = progress.suspects ? done / progress.suspects : 1;
    const bar = byId("bar");
    bar.setAttribute("aria-valuenow", String(Math.round(100 * share)));
    bar.firstElementChild.style.width = `${100 * share}%`;
    byId("bar-text").textContent = `${number(done)} of ${number(progress.suspects)} suspects answered, ${counted(progress.wrong, "label")} found wrong`;
    byId("left-text").textContent = leftInWords(progress.left);
    this.progressView.render();
  }
}

async function start() {
  try {
    const [about, progress] = await Promise.all([get("/api/about"), get("/api/progress")]);
    const app = new App(about);
    app.heard(progress);
    await app.route();
    document.body.dataset.ready = "yes";
  } catch (error) {
    byId("main").replaceChildren(h("div", { class: "done" }, h("h1", {}, "The page could not be loaded"), h("p", {}, error.message)));
  }
}

start();
