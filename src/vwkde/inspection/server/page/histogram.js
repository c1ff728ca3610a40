// A histogram: good images above the axis, this batch below it, and the threshold across both.

import { makeAxis, round, ticks } from "./scale.js";

const BINS = 40;
const INSET = 9; // half the width of the slider's thumb, so that the line is above it
const TOP = 6, AXIS = 100, BOTTOM = 158, LABELS = 174, HEIGHT = 190;

// Draw, and return the axis.
export function drawHistogram(svg, { good, batch, threshold, own, chosen }) {
  const axis = makeAxis(good, [...batch, own, threshold]);
  const width = svg.clientWidth || 300;
  const at = (score) => INSET + axis.place(score) * (width - 2 * INSET);
  const line = Number.isFinite(threshold) ? at(threshold) : width;
  const bars = (scores, name, top, bottom, up) => rectangles(name, bins(axis, scores, own), at, top, bottom, up);
  const parts = [
    bars(good, "good", TOP, AXIS, true),
    element("g", { "clip-path": "url(#left)" }, bars(batch, "ok", AXIS, BOTTOM, false)),
    element("g", { "clip-path": "url(#right)" }, bars(batch, "ng", AXIS, BOTTOM, false)),
    element("line", { class: "axis", x1: INSET, x2: width - INSET, y1: AXIS, y2: AXIS }),
    ...ticks(axis, 36 / width).map((score) => label(round(score), at(score), LABELS)),
  ];
  if (!batch.length) parts.push(label("your images will appear here", width / 2, (AXIS + BOTTOM) / 2, "empty"));
  if (Number.isFinite(own)) parts.push(upright("own", at(own), TOP, BOTTOM + 4));
  if (Number.isFinite(threshold)) parts.push(upright("rule", line, 0, HEIGHT));
  if (Number.isFinite(chosen)) parts.push(element("path", { class: "chosen", d: `M${at(chosen)} ${AXIS + 2}l6 10h-12z` }));
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.replaceChildren(clip("left", 0, line), clip("right", line, width - line), ...parts);
  return axis;
}

// The number of scores in each of the equal bins of the axis, as [from, to, count]. The model's own threshold is
// between two bins, so that no bar is on both sides of it.
function bins(axis, scores, own) {
  const edge = Number.isFinite(own) ? axis.place(own) : 0;
  const counts = new Map();
  for (const score of scores) {
    const bin = Math.ceil(BINS * (axis.place(score) - edge)) - 1;
    counts.set(bin, (counts.get(bin) ?? 0) + 1);
  }
  return [...counts].map(([bin, count]) => [axis.score(edge + bin / BINS), axis.score(edge + (bin + 1) / BINS), count]);
}

function rectangles(name, bins, at, top, bottom, up) {
  const most = Math.max(...bins.map(([, , count]) => count), 1);
  const bars = bins.map(([from, to, count]) => {
    const height = Math.max(2, ((bottom - top - 4) * count) / most);
    return element("rect", { x: at(from) + 0.5, width: Math.max(1, at(to) - at(from) - 1), y: up ? bottom - height : top, height });
  });
  return element("g", { class: name }, ...bars);
}

function label(text, x, y, name = "tick") {
  const node = element("text", { class: name, x, y });
  node.textContent = text;
  return node;
}

const upright = (name, x, y1, y2) => element("line", { class: name, x1: x, x2: x, y1, y2 });

const clip = (id, x, width) =>
  element("clipPath", { id }, element("rect", { x, width: Math.max(0, width), y: 0, height: HEIGHT }));

export function element(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
