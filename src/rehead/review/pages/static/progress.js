// How far the review is, what is left, and what to do with it.

import { get, newId, post } from "./api.js";
import { counted, h, number, percent } from "./dom.js";

// Few draws say little, and that is said.
export function leftInWords(left) {
  if (isUnknown(left)) return "Wrong labels left: not known before the first random draws";
  if (left.low === left.high) return `${number(left.low)} wrong labels left`;
  const range = `${number(left.low)} to ${number(left.high)}`;
  return `${range} wrong labels left (${percent(left.confidence)} sure, ${counted(left.drawn, "random draw")})`;
}

// Without a random draw nothing is known of what was not looked at.
function isUnknown(left) {
  return left.drawn === 0 && left.high > left.low;
}

// It takes draws from the suspects, and from the others.
function noEstimate(left) {
  if (left.drawn === 0) return "No estimate yet: nothing was drawn at random.";
  return "No single number yet: it takes random draws from the suspects and from the others.";
}

export class Progress {
  constructor(app) {
    this.app = app;
    this.refit = { state: "idle", said: "" };
  }

  async show(main) {
    this.main = main;
    this.app.heard(await get("/api/progress"));
    this.refit = await get("/api/refit");
    this.render();
    if (this.refit.state === "working") this.watch();
  }

  render() {
    if (this.app.view !== "progress" || !this.main) return;
    const now = this.app.progress;
    if (!now) return;
    // What has not changed stays, and with it a slider that is held, or a button that is pressed.
    const key = JSON.stringify([now, this.refit]);
    if (key === this.shown && this.main.querySelector(".sheets")) return;
    this.shown = key;
    this.main.replaceChildren(h("div", { class: "sheets" }, this.left(now), this.counted(now), this.shares(now), this.further()));
  }

  left(now) {
    const { left } = now;
    const total = Math.max(this.app.about.samples, 1);
    const interval = h("span", { class: "interval" });
    interval.style.left = `${(100 * left.low) / total}%`;
    interval.style.width = `${Math.max(0.5, (100 * (left.high - left.low)) / total)}%`;
    const unknown = isUnknown(left);
    const wide = !unknown && left.high - left.low > 0.05 * total;
    return h(
      "section",
      { class: "sheet wide" },
      h("h2", {}, "Wrong labels that are left"),
      h("p", { class: "big" }, unknown ? "not known yet" : left.low === left.high ? number(left.low) : `${number(left.low)} – ${number(left.high)}`),
      h("p", {}, left.estimate === null ? noEstimate(left) : `About ${number(Math.round(left.estimate))}; of ${number(total)} samples.`),
      unknown ? null : h("span", { class: "scale", role: "img", "aria-label": leftInWords(left) }, interval),
      unknown ? null : h("p", { class: "soft" }, `From ${counted(left.drawn, "sample")} drawn at random and shown without the model's opinion. With ${percent(left.confidence)} confidence; more than the upper end: 1 in 20.`),
      wide ? h("p", { class: "soft" }, "The range is wide, since few draws say little: ten without an error still allow 26 %. Raise the share below to narrow it.") : null,
    );
  }

  counted(now) {
    const line = (name, n) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, number(n)));
    return h(
      "section",
      { class: "sheet" },
      h("h2", {}, "So far"),
      h(
        "table",
        {},
        h(
          "tbody",
          {},
          line("suspects", now.suspects),
          line("of these without an answer", now.suspects_left),
          line("labels found wrong", now.wrong),
          line("decided", now.counts.decided),
          line("unsure", now.counts.unsure),
          line("skipped", now.counts.skipped),
          line("reviewers disagree", now.counts.disputed),
        ),
      ),
      h("h3", {}, "Reviewers"),
      h("table", {}, h("tbody", {}, Object.entries(now.reviewers).map(([name, n]) => line(name, n)))),
    );
  }

  shares(now) {
    const slider = (name, value, title, text) => {
      const shown = h("output", {}, `${Math.round(100 * value)} %`);
      const input = h("input", {
        type: "range", min: 0, max: 50, step: 1, value: Math.round(100 * value), "aria-label": title,
        oninput: () => { shown.textContent = `${input.value} %`; },
        onchange: () => this.app.outbox.add("/api/share", { id: newId(), who: this.app.who, name, value: Number(input.value) / 100 }, { share: true }),
      });
      return h("div", { class: "slider" }, h("label", {}, h("span", {}, title, " ", shown), input), h("p", { class: "soft" }, text));
    };
    return h(
      "section",
      { class: "sheet" },
      h("h2", {}, "What is shown"),
      slider("random", now.share, "Random draws", "Share of samples drawn from those that are not suspect; as many are drawn from the suspects. More of them narrow the range sooner."),
      slider("second_look", now.second_look, "Second looks", "Share of samples that another reviewer has decided. They are shown without that decision."),
    );
  }

  further() {
    const busy = this.refit.state === "working";
    return h(
      "section",
      { class: "sheet wide" },
      h("h2", {}, "Go on with it"),
      h(
        "div",
        { class: "row" },
        h("a", { class: "button", href: "/export.csv", download: "corrected.csv" }, "Corrected labels (CSV)"),
        h("button", { type: "button", disabled: busy, onclick: () => this.begin() }, busy ? "Fitting …" : "Fit the head again"),
      ),
      this.refit.said ? h("p", { class: this.refit.state === "failed" ? "error" : "said", role: "status" }, this.refit.said) : null,
      h("p", { class: "soft" }, "Fitting again happens in the background; the order of the suspects is better afterwards. ", h("code", {}, "rehead apply"), " writes labels, weights and the new head to files."),
      h("p", { class: "soft" }, "Decisions: ", h("code", {}, this.app.about.log)),
    );
  }

  async begin() {
    this.refit = await post("/api/refit", {});
    this.render();
    this.watch();
  }

  async watch() {
    while (this.refit.state === "working") {
      await new Promise((resolve) => setTimeout(resolve, 700));
      try {
        this.refit = await get("/api/refit");
      } catch {
        continue; // the server will be back, or the banner says so
      }
    }
    this.app.review.reset();
    this.app.heard(await get("/api/progress"));
    this.render();
  }
}
