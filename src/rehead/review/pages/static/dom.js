// Elements from values. Text is only ever set as text, so that nothing in the data can be run.

export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "checked" || name === "value" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

export function percent(p) {
  if (p === null || p === undefined) return "";
  if (p < 0.01) return "< 1 %";
  if (p > 0.99) return "> 99 %";
  return `${Math.round(100 * p)} %`;
}

export const number = (n) => n.toLocaleString("en-US");

// A number of things: 1 sample, 2 samples.
export const counted = (n, thing) => `${number(n)} ${thing}${n === 1 ? "" : "s"}`;

export function bar(share, kind) {
  const fill = h("span", { class: `fill ${kind}` });
  fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return h("span", { class: "meter", "aria-hidden": "true" }, fill);
}

export function say(text) {
  byId("spoken").textContent = text;
}

// What a sample looks like: a picture, a text, or the cells of a row.
export function look(sample, row, run, size, name) {
  if (sample.kind === "image") return picture(row, run, size, name);
  if (sample.kind === "text") {
    return h("p", { class: "text" }, sample.text, sample.cut ? h("span", { class: "soft" }, " …") : null);
  }
  if (sample.kind === "row") {
    const cells = size === "small" ? sample.cells.slice(0, 4) : sample.cells;
    return h("dl", { class: "cells" }, cells.map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, value))));
  }
  return h("p", { class: "nothing" }, sample.why);
}

function picture(row, run, size, name) {
  const src = `/picture/${run}/${row}/${size}`;
  const image = h("img", { src, alt: `Sample ${name}`, loading: size === "small" ? "lazy" : "eager", decoding: "async" });
  image.addEventListener("load", () => {
    if (Math.max(image.naturalWidth, image.naturalHeight) <= 64) image.classList.add("pixels");
  });
  image.addEventListener("error", async () => {
    const reason = await whyNot(src);
    image.replaceWith(h("p", { class: "nothing" }, reason));
  });
  return image;
}

async function whyNot(src) {
  try {
    const answer = await fetch(src);
    return answer.ok ? "The picture could not be loaded." : (await answer.json()).error;
  } catch {
    return "The picture could not be loaded: the server does not answer.";
  }
}
