// The page: its state, how it is drawn, and what buttons and keys do.

import * as api from "./api.js";
import { Queue, makeItem, worstFirst } from "./batch.js";
import { chosenFiles, droppedFiles, imagesAmong } from "./files.js";
import { drawHistogram } from "./histogram.js";
import { Mask } from "./mask.js";
import { bytes, count, nats, pValue, round } from "./scale.js";
import { drawThumbnail, fitStage, showBoxes, showPixels } from "./viewer.js";
import { againWords, because, mapNote, rateWords, reason } from "./words.js";

const FORM_BYTES = 4096; // size of the form around a file
const SLIDER_STEPS = 1000;
const LONGEST_TEXT = 1000; // longest text that the server accepts

const $ = (id) => document.getElementById(id);
const queue = new Queue(itemChanged);
const mask = new Mask($("mask"), notify);
const state = {
  model: null,
  items: [],
  chosen: null, // the item that is shown
  picked: false, // whether a person chose it; until then the worst is shown
  threshold: Infinity,
  moved: false, // whether a person moved the threshold
  axis: null,
};

// --- the model and its verdicts --------------------------------------------------------------------------------------

async function loadModel() {
  try {
    setModel(await api.getModel());
  } catch (error) {
    notify(error.message);
  }
}

function setModel(model) {
  state.model = model;
  if (!state.moved) state.threshold = model.threshold ?? Infinity;
  const good = count(model.good_images, "good image"), size = `${model.image_width} × ${model.image_height} pixels`;
  const about = ` · ${good} · ${size} · ${model.features} features${model.read_only ? " · read only" : ""}`;
  $("model").replaceChildren(text("strong", model.name), about);
  $("what-fits").textContent =
    `This model has learnt ${good} of ${size}. Give it images of the same surface${model.any_size ? ", of any size" : " and size"}, as PNG, JPEG, BMP, TIFF, ` +
    `WebP or PGM, up to ${bytes(model.most_bytes)} each.`;
  for (const each of document.querySelectorAll("[data-choose]")) each.disabled = false;
  refit();
  render();
}

const refit = () => fitStage(state.chosen?.result ?? state.model, $("actual").checked);

const isRejected = (item) => !item.added && item.result.score > state.threshold;
const verdict = (item) => (isRejected(item) ? "NG" : "OK");
const hasFailed = (item) => item.status === "failed" && !item.result;
const isOutdated = (item) => item.result && !item.added && item.result.good_images !== state.model.good_images;
const needsCheck = (item) => item.status !== "waiting" && (isOutdated(item) || (hasFailed(item) && item.unreachable));

function itemChanged(item) {
  if (item?.result?.good_images > state.model.good_images) loadModel(); // someone else has added an image
  if (item?.status === "done") drawThumbnail(item, rowOf(item).querySelector("canvas")).catch((error) => notify(error.message));
  if (item?.status === "failed" && item.result) notify(item.error);
  if (item?.status === "stopped" && item.result) item.status = "done";
  state.items = state.items.filter((each) => each.status !== "stopped");
  render(item === state.chosen);
}

// --- adding images to the list ---------------------------------------------------------------------------------------

function take(pairs) {
  const items = pairs.map(([file, name]) => makeItem(file, name));
  const most = state.model.most_bytes - FORM_BYTES;
  for (const item of items.filter((each) => each.file.size > most)) {
    const error = `the file has ${bytes(item.file.size)}, but at most ${bytes(most)} can be sent.`;
    Object.assign(item, { status: "failed", error });
  }
  state.items.push(...items);
  queue.add(items.filter((item) => item.status === "waiting"));
  render();
}

function takeFolder(pairs) {
  const images = imagesAmong(pairs, state.model.suffixes);
  if (!images.length) notify("There are no images in that folder.");
  else if (images.length < pairs.length) notify(`${count(pairs.length - images.length, "other file")} skipped.`);
  take(images);
}

// --- drawing the page ------------------------------------------------------------------------------------------------

let isPlanned = false, pixelsChanged = false;
function render(withPixels = false) {
  pixelsChanged ||= withPixels;
  if (isPlanned) return;
  isPlanned = true;
  requestAnimationFrame(() => {
    isPlanned = false;
    renderNow();
  });
}

function renderNow() {
  if (!state.model) return;
  const order = worstFirst(state.items);
  if (!state.picked || !order.includes(state.chosen)) state.chosen = order[0] ?? null;
  renderList(order);
  renderBatch();
  renderShown();
  renderThreshold();
}

function renderList(order) {
  const list = $("list");
  order.forEach((item, place) => {
    const row = rowOf(item);
    if (list.children[place] !== row) list.insertBefore(row, list.children[place] ?? null);
    fillRow(item, row);
  });
  while (list.children.length > order.length) list.lastChild.remove();
  list.setAttribute("aria-activedescendant", state.chosen ? rowOf(state.chosen).id : "");
}

function rowOf(item) {
  item.row ??= makeRow(item);
  return item.row;
}

function makeRow(item) {
  const row = document.createElement("li");
  row.id = `image-${item.id}`;
  row.role = "option";
  row.title = item.name;
  const canvas = Object.assign(document.createElement("canvas"), { width: 88, height: 88 });
  const words = text("span", "");
  words.append(text("span", item.name, "name"), text("span", "", "detail"));
  row.append(canvas, words, text("span", "", "badge"));
  row.addEventListener("click", () => choose(item));
  return row;
}

function fillRow(item, row) {
  const failed = hasFailed(item), detail = row.querySelector(".detail");
  row.setAttribute("aria-selected", item === state.chosen);
  row.classList.toggle("failed", failed);
  detail.classList.toggle("error", failed);
  if (item.result) detail.textContent = item.added ? "marked as good" : `${nats(item.result.score)} nats`;
  else detail.textContent = failed ? reason(item) : "waiting";
  fillBadge(item, row.querySelector(".badge"));
}

function fillBadge(item, badge) {
  const word = item.result ? verdict(item) : hasFailed(item) ? "Error" : "…";
  badge.textContent = word;
  badge.classList.toggle("ok", word === "OK");
  badge.classList.toggle("ng", word === "NG");
}

function renderBatch() {
  const judged = state.items.filter((item) => item.result), rejected = judged.filter(isRejected).length;
  const failed = state.items.filter(hasFailed).length, again = state.items.filter(needsCheck);
  const words = [`${judged.length} checked: `, text("span", `${rejected} NG`, "ng"), ", ", text("span", `${judged.length - rejected} OK`, "ok")];
  if (failed) words.push(", ", text("span", count(failed, "error"), "error"));
  $("counts").replaceChildren(...(state.items.length ? words : []));
  $("progress").hidden = !queue.busy;
  Object.assign($("bar"), { max: queue.total || 1, value: queue.done });
  $("bar-text").textContent = `${queue.done} of ${queue.total}`;
  $("batch-actions").hidden = !state.items.length;
  $("download").disabled = !judged.length && !failed;
  $("again-notice").hidden = !again.length || queue.busy;
  $("again-text").textContent = againWords(again);
}

function renderThreshold() {
  const { model, threshold } = state, isFinite = Number.isFinite(threshold);
  const judged = state.items.filter((item) => item.result && !item.added);
  state.axis = drawHistogram($("histogram"), {
    good: model.good_scores,
    batch: judged.map((item) => item.result.score),
    threshold,
    own: model.threshold ?? Infinity,
    chosen: judged.includes(state.chosen) ? state.chosen.result.score : NaN,
  });
  $("slider").value = isFinite ? SLIDER_STEPS * state.axis.place(threshold) : SLIDER_STEPS;
  $("slider").setAttribute("aria-valuetext", isFinite ? `${nats(threshold)} nats` : "none: no image is rejected");
  if (document.activeElement !== $("threshold")) $("threshold").value = isFinite ? Number(threshold.toPrecision(4)) : "";
  $("reset").disabled = !state.moved;
  const [headline, sentence] = rateWords(model, threshold);
  $("rate").replaceChildren(text("strong", headline), sentence);
  $("rejected").textContent = judged.length ? `${judged.filter(isRejected).length} of ${judged.length} in this batch are rejected.` : "";
  $("limit-hint").textContent = state.moved
    ? `For this page and its CSV file only; the model's own threshold is ${nats(model.threshold ?? Infinity)}.`
    : "The model's own threshold. Move the slider to try another on this page and in its CSV file.";
}

// --- the image that is shown -----------------------------------------------------------------------------------------

let shown = null;

function renderShown() {
  const item = state.chosen, result = item?.result;
  $("empty").hidden = state.items.length > 0;
  $("shown").hidden = !item;
  if (item) {
    $("name").textContent = item.name;
    fillBadge(item, $("badge"));
    $("because").textContent = because(item, state.threshold);
    $("because").classList.toggle("error", hasFailed(item));
    for (const part of document.querySelectorAll("#facts, #frame, #view-tools")) part.hidden = !result;
    $("mark").hidden = !result || state.model.read_only;
    $("mask-label").hidden = state.model.read_only;
    $("mark").disabled = Boolean(item.added || item.adding);
  }
  $("map-note").textContent = result ? mapNote(item, isRejected(item), state.model) : "";
  if (result) renderFacts(item);
  if (result && (pixelsChanged || shown !== item)) {
    fitStage(result, $("actual").checked);
    showPixels(item).catch((error) => notify(error.message));
  }
  pixelsChanged = false;
  shown = result ? item : null;
}

function renderFacts(item) {
  const { result } = item;
  $("score").textContent = `${nats(result.score)} nats`;
  $("p-value").textContent = item.added ? "–" : round(pValue(state.model.good_scores, result.score));
  $("nearest").textContent = result.nearest_good;
  setIfOther($("nearest-picture"), "src", `api/good?name=${encodeURIComponent(result.nearest_good)}`);
  $("time").textContent = `${Math.round(result.milliseconds)} ms`;
  showBoxes(isRejected(item) ? result.boxes_if_rejected : []);
}

// Set an attribute only if it changes: the browser would fetch the same address again.
function setIfOther(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

function choose(item) {
  state.picked = true;
  state.chosen = item;
  renderNow();
  rowOf(item).scrollIntoView({ block: "nearest" });
}

function move(steps) {
  const order = worstFirst(state.items);
  const place = order.indexOf(state.chosen) + steps;
  if (order.length) choose(order[Math.min(order.length - 1, Math.max(0, place))]);
}

// --- what people do --------------------------------------------------------------------------------------------------

function setThreshold(value) {
  Object.assign(state, { threshold: value, moved: true });
  render();
}

function resetThreshold() {
  Object.assign(state, { threshold: state.model.threshold ?? Infinity, moved: false });
  render();
}

async function markAsGood() {
  const item = state.chosen;
  if (!item?.result || item.added || item.adding || state.model.read_only) return;
  if (!(await isConfirmed(item))) return;
  const before = state.model.threshold ?? Infinity;
  item.adding = true;
  render();
  notify(`Adding ${item.name} …`);
  try {
    const model = await api.add(item.file);
    item.added = true;
    setModel(model);
    const change = `${nats(before)} → ${nats(model.threshold ?? Infinity)}`;
    notify(`${item.name} was added: ${count(model.good_images, "good image")}. Threshold in nats: ${change}.`);
  } catch (error) {
    notify(error.message);
  }
  item.adding = false;
  render();
}

function isConfirmed(item) {
  const dialog = $("confirm");
  $("confirm-text").textContent =
    `${item.name} (${nats(item.result.score)} nats) will become one of the good images of ${state.model.name}. Similar ` +
    "images will then pass. This cannot be undone.";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onsubmit = ({ submitter }) => resolve(submitter.value === "yes");
    dialog.oncancel = () => resolve(false);
  });
}

async function download() {
  const items = worstFirst(state.items).filter((item) => item.result || hasFailed(item));
  try {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await api.table(items.map(tableRow)));
    link.download = "scores.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  } catch (error) {
    notify(error.message);
  }
}

function tableRow(item) {
  const { result } = item, image = item.name.slice(-LONGEST_TEXT), rejected = result && isRejected(item);
  if (!result) return { image, verdict: "ERROR", error: item.error.slice(0, LONGEST_TEXT) };
  return {
    image,
    verdict: verdict(item),
    score: result.score,
    p_value: pValue(state.model.good_scores, result.score),
    threshold: Number.isFinite(state.threshold) ? state.threshold : null,
    nearest_good: result.nearest_good,
    boxes: rejected ? result.boxes_if_rejected.map((box) => [box.top, box.left, box.bottom, box.right]) : [],
    milliseconds: result.milliseconds,
  };
}

function clearList() {
  queue.stop();
  Object.assign(state, { items: [], chosen: null, picked: false });
  render();
}

let messageTimer;
function notify(words) {
  $("message").textContent = words;
  $("message").hidden = false;
  clearTimeout(messageTimer);
  messageTimer = setTimeout(() => ($("message").hidden = true), 6000);
}

function text(tag, words, name = "") {
  return Object.assign(document.createElement(tag), { textContent: words, className: name });
}

// --- buttons, keys and dropped files ---------------------------------------------------------------------------------

const keys = {
  j: () => move(1),
  ArrowDown: () => move(1),
  k: () => move(-1),
  ArrowUp: () => move(-1),
  Home: () => move(-Infinity),
  End: () => move(Infinity),
  o: () => $("map-on").click(),
  z: () => $("actual").click(),
  g: markAsGood,
  m: () => $("mask-on").click(),
  t: () => $("slider").focus(),
  "?": () => $("help").showModal(),
};

document.addEventListener("keydown", (event) => {
  const { key, target } = event, isTyping = target.type === "number" || (target.type === "range" && key.length > 1);
  const isMine = Object.hasOwn(keys, key) && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping;
  if (!isMine || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  keys[key]();
});

const on = (id, kind, act) => $(id).addEventListener(kind, act);
for (const each of document.querySelectorAll("[data-choose]")) {
  each.addEventListener("click", () => $(each.dataset.choose).click());
}
on("files", "change", ({ target }) => {
  take(chosenFiles(target));
  target.value = "";
});
on("folder", "change", ({ target }) => {
  takeFolder(chosenFiles(target));
  target.value = "";
});
on("map-on", "change", ({ target }) => $("stage").classList.toggle("bare", !target.checked));
on("opacity", "input", ({ target }) => $("stage").style.setProperty("--opacity", target.value / 100));
on("actual", "change", refit);
on("mask-on", "change", ({ target }) => mask.toggle(target.checked, state.model));
on("slider", "input", ({ target }) => setThreshold(state.axis.score(target.value / SLIDER_STEPS)));
on("threshold", "change", ({ target }) => (target.value === "" ? resetThreshold() : setThreshold(Number(target.value))));
on("reset", "click", resetThreshold);
on("mark", "click", markAsGood);
on("download", "click", download);
on("clear", "click", clearList);
on("stop", "click", () => queue.stop());
on("again", "click", () => {
  queue.add(state.items.filter(needsCheck));
  render();
});
on("open-help", "click", () => $("help").showModal());
window.addEventListener("resize", () => {
  if (state.model) refit();
  render();
});

let entered = 0;
const setEntered = (value) => {
  entered = value;
  document.body.classList.toggle("dropping", entered > 0);
};
document.addEventListener("dragenter", () => setEntered(entered + 1));
document.addEventListener("dragleave", () => setEntered(entered - 1));
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  setEntered(0);
  const { files, inFolders } = await droppedFiles(event.dataTransfer);
  if (files.length) take(files);
  if (inFolders.length) takeFolder(inFolders);
});

$("address").textContent = location.href.replace(/[?#].*/, "");
loadModel();
