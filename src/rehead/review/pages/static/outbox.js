// Decisions on their way. They go one after the other, in order; what has no answer yet is kept in
// this tab's storage, and is sent again, under the same id, until there is one.

import { Refused, post } from "./api.js";

const WAITS = [500, 1000, 2000, 4000, 8000];

export class Outbox {
  constructor(run, { saved, refused, changed }) {
    this.key = `rehead-outbox-${run}`;
    this.items = JSON.parse(sessionStorage.getItem(this.key) || "[]");
    this.on = { saved, refused, changed };
    this.failures = 0;
    this.error = "";
    this.timer = null;
    this.sending = false;
    window.addEventListener("online", () => this.now());
    window.addEventListener("beforeunload", (event) => {
      if (this.items.length) event.preventDefault();
    });
    if (this.items.length) this.send();
  }

  get waiting() {
    return this.items.length;
  }

  get stuck() {
    return this.failures > 0;
  }

  // `about` is what the page wants back with the answer; it must be plain values.
  add(path, body, about) {
    this.items.push({ path, body, about });
    this.keep();
    this.send();
  }

  now() {
    clearTimeout(this.timer);
    this.timer = null;
    this.send();
  }

  keep() {
    sessionStorage.setItem(this.key, JSON.stringify(this.items));
    this.on.changed(this);
  }

  async send() {
    if (this.sending || this.timer !== null) return;
    this.sending = true;
    while (this.items.length) {
      const item = this.items[0];
      try {
        const answer = await post(item.path, item.body);
        this.done();
        this.on.saved(item, answer);
      } catch (error) {
        if (error instanceof Refused && error.status >= 400 && error.status < 500) {
          this.done();
          this.on.refused(item, error);
          continue;
        }
        this.failures += 1;
        this.error = error instanceof Refused ? error.message : "The server does not answer.";
        this.timer = setTimeout(() => this.now(), WAITS[Math.min(this.failures, WAITS.length) - 1]);
        this.on.changed(this);
        break;
      }
    }
    this.sending = false;
  }

  done() {
    this.items.shift();
    this.failures = 0;
    this.error = "";
    this.keep();
  }
}
