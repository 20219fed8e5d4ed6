// The maps of samples: typed arrays, drawn once for each choice of filters; no node for a sample.
"use strict";
const PALETTE = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#888888", "#e08030", "#6655cc", "#22aa99"];
const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };
const CELLS = 64; // of the grid in which the nearest sample is looked for, a side

function unpack(text, type) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new TYPES[type](bytes.buffer);
}

function readPoints(element) {
  const raw = JSON.parse(element.textContent);
  const points = { n: raw.n, labels: raw.labels, kinds: raw.kinds, coloured: raw.coloured };
  points.x = unpack(raw.x, "u2");
  points.y = unpack(raw.y, "u2");
  points.given = unpack(raw.given, raw.codes);
  points.suggested = unpack(raw.suggested, raw.codes);
  points.quality = unpack(raw.quality, "u1");
  points.kind = unpack(raw.kind, "u1");
  points.rows = raw.rows === null ? null : unpack(raw.rows, "u4");
  points.rawIds = raw.ids;
  return points;
}

function bySide(points) {
  // Sample numbers in the order of the cells of a grid, and where each cell begins.
  const cell = new Uint16Array(points.n);
  const start = new Uint32Array(CELLS * CELLS + 1);
  for (let i = 0; i < points.n; i++) {
    cell[i] = (points.y[i] >> 10) * CELLS + (points.x[i] >> 10);
    start[cell[i] + 1]++;
  }
  for (let c = 0; c < CELLS * CELLS; c++) start[c + 1] += start[c];
  const next = start.slice();
  const order = new Uint32Array(points.n);
  for (let i = 0; i < points.n; i++) order[next[cell[i]]++] = i;
  return { start, order };
}

class SampleMap {
  constructor(figure) {
    this.figure = figure;
    this.points = readPoints(document.getElementById(figure.dataset.points));
    [this.canvas, this.over] = figure.querySelectorAll("canvas");
    this.tip = figure.querySelector(".tip");
    this.filters = figure.querySelector("form");
    for (const name of ["given", "suggested"]) {
      this.filters.elements[name].append(...this.points.labels.map((label, code) => new Option(label, code)));
    }
    this.visible = new Uint8Array(this.points.n).fill(1);
    this.bits = Uint8Array.from(this.points.kind, (k) => 1 << k);
    this.colour = new Int16Array(this.points.labels.length).fill(-1);
    this.points.coloured.forEach((code, i) => { this.colour[code] = i; });
    this.grid = bySide(this.points);
    this.filters.addEventListener("change", () => this.filter());
    this.filters.addEventListener("submit", (event) => event.preventDefault());
    this.filters.elements.all.addEventListener("click", () => { this.filters.reset(); this.filter(); });
    this.over.addEventListener("pointermove", (event) => this.hover(event));
    this.over.addEventListener("pointerdown", (event) => this.hover(event));
    this.over.addEventListener("pointerleave", () => this.leave());
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.filter();
  }

  resize() {
    const size = Math.round(this.canvas.clientWidth * Math.min(devicePixelRatio || 1, 2));
    if (size && size !== this.canvas.width) {
      for (const canvas of [this.canvas, this.over]) canvas.width = canvas.height = size;
      this.draw();
    }
  }

  choose(given, suggested) {
    this.filters.elements.given.value = given;
    this.filters.elements.suggested.value = suggested;
    this.filter();
    this.figure.scrollIntoView({ block: "center" });
  }

  filter() {
    const form = this.filters.elements, p = this.points;
    const given = form.given.value === "" ? -1 : Number(form.given.value);
    const suggested = form.suggested.value === "" ? -1 : Number(form.suggested.value);
    let mask = 0, shown = 0;
    for (const box of this.filters.querySelectorAll("input[name=kind]")) if (box.checked) mask |= 1 << Number(box.value);
    for (let i = 0; i < p.n; i++) {
      const here = (this.bits[i] & mask) !== 0 && (given < 0 || p.given[i] === given) && (suggested < 0 || p.suggested[i] === suggested);
      this.visible[i] = here ? 1 : 0;
      shown += here ? 1 : 0;
    }
    const text = `${shown.toLocaleString("en")} of ${p.n.toLocaleString("en")} samples shown`;
    this.figure.querySelector("output").textContent = text;
    this.figure.querySelector(".of-labels").hidden = form.colour.value === "kind";
    this.draw();
  }

  colours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    if (this.filters.elements.colour.value === "kind") return [of("--faint"), of("--wrong"), of("--strange"), of("--unsure")];
    return [...PALETTE.slice(0, this.points.coloured.length), of("--faint")];
  }

  draw() {
    const p = this.points, size = this.canvas.width;
    const context = this.canvas.getContext("2d");
    context.clearRect(0, 0, size, size);
    const byKind = this.filters.elements.colour.value === "kind";
    const colours = this.colours(), other = colours.length - 1;
    const scale = size / 760;
    const radius = scale * Math.min(4, Math.max(0.9, Math.sqrt(24000 / p.n)));
    const pad = 10 * scale, room = (size - 2 * pad) / 65535;
    this.place = (i) => [pad + p.x[i] * room, size - pad - p.y[i] * room];
    const layers = colours.map(() => []);
    const rings = [];
    for (let i = 0; i < p.n; i++) {
      if (!this.visible[i]) continue;
      const of = byKind ? p.kind[i] : this.colour[p.given[i]];
      layers[of < 0 ? other : of].push(i);
      if (!byKind && p.given[i] !== p.suggested[i]) rings.push(i);
    }
    const square = p.n > 8000;
    context.globalAlpha = p.n > 20000 ? 0.6 : 0.85;
    layers.forEach((layer, c) => {
      context.fillStyle = colours[c];
      this.dots(context, layer, radius, square);
    });
    context.globalAlpha = 1;
    if (rings.length) {
      const ink = getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
      context.strokeStyle = context.fillStyle = ink;
      context.lineWidth = Math.max(1, 0.45 * radius);
      if (square) this.dots(context, rings, 0.45 * radius, true);
      else for (const i of rings) { const [x, y] = this.place(i); context.beginPath(); context.arc(x, y, radius, 0, 7); context.stroke(); }
    }
  }

  dots(context, layer, radius, square) {
    for (const i of layer) {
      const [x, y] = this.place(i);
      if (square) context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
      else { context.beginPath(); context.arc(x, y, radius, 0, 7); context.fill(); }
    }
  }

  nearest(x, y) {
    // In units of the map, among the cells around.
    const p = this.points, reach = 1800;
    let best = -1, least = reach * reach;
    const low = (v) => Math.max(0, (v - reach) >> 10), high = (v) => Math.min(CELLS - 1, (v + reach) >> 10);
    for (let row = low(y); row <= high(y); row++) {
      for (let at = this.grid.start[row * CELLS + low(x)]; at < this.grid.start[row * CELLS + high(x) + 1]; at++) {
        const i = this.grid.order[at];
        const d = (p.x[i] - x) ** 2 + (p.y[i] - y) ** 2;
        if (d < least && this.visible[i]) { least = d; best = i; }
      }
    }
    return best;
  }

  hover(event) {
    const box = this.over.getBoundingClientRect(), pad = (10 * box.width) / 760, room = box.width - 2 * pad;
    const x = Math.round(((event.clientX - box.left - pad) / room) * 65535);
    const y = Math.round((1 - (event.clientY - box.top - pad) / room) * 65535);
    const i = this.nearest(Math.min(65535, Math.max(0, x)), Math.min(65535, Math.max(0, y)));
    if (i < 0) return this.leave();
    if (i !== this.hovered) this.mark(i);
    const left = event.clientX - box.left, top = event.clientY - box.top;
    this.tip.style.left = left > box.width / 2 ? "" : `${left + 14}px`;
    this.tip.style.right = left > box.width / 2 ? `${box.width - left + 14}px` : "";
    this.tip.style.top = top > box.height / 2 ? "" : `${top + 10}px`;
    this.tip.style.bottom = top > box.height / 2 ? `${box.height - top + 10}px` : "";
    return undefined;
  }

  mark(i) {
    this.hovered = i;
    const [x, y] = this.place(i), scale = this.canvas.width / 760;
    const context = this.over.getContext("2d");
    context.clearRect(0, 0, this.over.width, this.over.height);
    context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
    context.lineWidth = 2 * scale;
    context.beginPath(); context.arc(x, y, 7 * scale, 0, 7); context.stroke();
    this.tip.replaceChildren(...this.describe(i));
    this.tip.hidden = false;
  }

  describe(i) {
    // Text of the data goes into text nodes only.
    const p = this.points, line = (text, tag = "div") => { const e = document.createElement(tag); e.textContent = text; return e; };
    const row = p.rows === null ? i : p.rows[i];
    if (p.ids === undefined) p.ids = p.rawIds === null ? null : p.rawIds.split("\n");
    const name = p.ids !== null && p.ids[i] ? p.ids[i] : `row ${row}`;
    const lines = [line(name, "strong"), line(`given ${p.labels[p.given[i]]}`)];
    if (p.given[i] !== p.suggested[i]) lines.push(line(`looks like ${p.labels[p.suggested[i]]}`));
    lines.push(line(`quality ${(p.quality[i] / 255).toFixed(2)}, ${p.kinds[p.kind[i]]}`));
    const seen = this.figure.closest("[data-report]").querySelector(`[data-row="${row}"] img`);
    if (seen) { const image = new Image(); image.src = seen.src; image.className = seen.className; image.alt = ""; lines.splice(1, 0, image); }
    return lines;
  }

  leave() {
    this.hovered = -1;
    this.tip.hidden = true;
    this.over.getContext("2d").clearRect(0, 0, this.over.width, this.over.height);
  }
}

for (const figure of document.querySelectorAll("figure.map")) {
  const map = new SampleMap(figure);
  for (const button of figure.closest("[data-report]").querySelectorAll("button[data-given]")) {
    button.hidden = false;
    button.addEventListener("click", () => map.choose(button.dataset.given, button.dataset.suggested));
  }
}
// On paper nothing can be opened.
addEventListener("beforeprint", () => document.querySelectorAll("details.also").forEach((d) => { d.open = true; }));
performance.mark("ready");
