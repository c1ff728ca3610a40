// A mask of what is not inspected, drawn on the image: with a brush, or as rectangles by mouse or keys.

import * as api from "./api.js";

const STEP = 0.02, BRUSH = 0.04; // of the shorter side
const IGNORED = [0, 105, 190, 255], INSPECTED = [0, 0, 0, 0]; // red, green, blue, opacity
const BLACK = [0, 0, 0, 255], WHITE = [255, 255, 255, 255];
const MOST_UNDONE = 2 ** 27; // bytes

const $ = (id) => document.getElementById(id);

export class Mask {
  #undo = [];
  #box = null; // the rectangle that keys move, in pixels
  #from = null; // where the mouse went down
  #before = null;
  #isOn = false;
  #isLoaded = false;

  constructor(canvas, notify) {
    this.canvas = canvas;
    this.notify = notify;
    this.draw = canvas.getContext("2d", { willReadFrequently: true });
    for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      canvas.addEventListener(kind, (event) => this[kind](event));
    }
    canvas.addEventListener("keydown", (event) => this.keydown(event));
    $("mask-undo").addEventListener("click", () => this.undo());
    $("mask-invert").addEventListener("click", () => this.invert());
    $("mask-clear").addEventListener("click", () => this.clear());
    $("mask-save").addEventListener("click", () => this.save());
  }

  // Show or hide the mask; the saved one is fetched first, since it would cover what is drawn before it arrives.
  async toggle(isOn, { image_width: width, image_height: height }) {
    this.#isOn = isOn;
    if (isOn && (!this.#isLoaded || this.canvas.width !== width || this.canvas.height !== height)) {
      Object.assign(this.canvas, { width, height });
      const saved = await api.mask().catch((error) => this.notify(error.message));
      if (saved) await this.#take(saved);
      this.#isLoaded = true;
    }
    this.canvas.hidden = $("mask-tools").hidden = !this.#isOn;
    if (!this.#isOn) return;
    this.#box = this.#middle();
    this.#show();
    this.canvas.focus();
  }

  pointerdown(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.#remember();
    this.#from = this.#place(event);
    this.#before = this.#pixels();
    this.pointermove(event);
  }

  pointermove(event) {
    if (!this.#from) return;
    const to = this.#place(event);
    if ($("mask-tool").value === "brush") {
      this.#line(this.#from, to);
      this.#from = to;
    } else {
      this.draw.putImageData(this.#before, 0, 0);
      const box = between(this.#from, to);
      if (box.width >= 1 && box.height >= 1) this.#fill(box);
    }
  }

  pointerup() {
    this.#from = null;
    this.#show();
  }

  pointercancel() {
    this.pointerup();
  }

  // Arrows move the dashed rectangle, with Shift they resize it; Enter ignores what is in it, Delete inspects it again.
  keydown(event) {
    const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = Math.max(1, Math.round(STEP * Math.min(this.canvas.width, this.canvas.height)));
    if (directions[event.key]) this.#shift(directions[event.key].map((by) => by * step), event.shiftKey);
    else if (event.key === "Enter") this.#apply($("mask-erase").checked);
    else if (event.key === "Delete" || event.key === "Backspace") this.#apply(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  undo() {
    const before = this.#undo.pop();
    if (before) this.draw.putImageData(before, 0, 0);
    this.#show();
  }

  clear() {
    this.#remember();
    this.draw.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.#show();
  }

  // What was inspected is ignored, and the other way round: so a region of interest is drawn.
  invert() {
    this.#remember();
    this.draw.putImageData(coloured(this.#pixels(), 3, INSPECTED, IGNORED), 0, 0);
    this.#show();
  }

  async save() {
    try {
      const { file, ignored_share: share } = await api.saveMask(await this.#png());
      this.notify(`${file} was saved next to the model: ${(100 * share).toFixed(1)} % ignored from the next fit on, with --ignore ${file}`);
    } catch (error) {
      this.notify(error.message);
    }
  }

  #shift([right, down], resizing) {
    const box = this.#box, { width, height } = this.canvas;
    if (resizing) {
      box.width = Math.min(width - box.x, Math.max(1, box.width + right));
      box.height = Math.min(height - box.y, Math.max(1, box.height + down));
    } else {
      box.x = Math.min(width - box.width, Math.max(0, box.x + right));
      box.y = Math.min(height - box.height, Math.max(0, box.y + down));
    }
    this.#show();
  }

  #apply(erasing) {
    this.#remember();
    this.#fill(this.#box, erasing);
    this.#show();
  }

  #fill({ x, y, width, height }, erasing = $("mask-erase").checked) {
    this.draw.fillStyle = `rgb(${IGNORED.slice(0, 3).join(" ")})`;
    this.draw[erasing ? "clearRect" : "fillRect"](Math.round(x), Math.round(y), Math.round(width), Math.round(height));
  }

  #line(from, to) {
    const { draw } = this;
    draw.save();
    draw.globalCompositeOperation = $("mask-erase").checked ? "destination-out" : "source-over";
    Object.assign(draw, { strokeStyle: `rgb(${IGNORED.slice(0, 3).join(" ")})`, lineCap: "round", lineWidth: BRUSH * Math.min(this.canvas.width, this.canvas.height) });
    draw.beginPath();
    draw.moveTo(from.x, from.y);
    draw.lineTo(to.x + 0.01, to.y);
    draw.stroke();
    draw.restore();
  }

  #place(event) {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    return { x: ((event.clientX - left) * this.canvas.width) / width, y: ((event.clientY - top) * this.canvas.height) / height };
  }

  #middle() {
    const { width, height } = this.canvas;
    return { x: Math.round(width / 4), y: Math.round(height / 4), width: Math.round(width / 2), height: Math.round(height / 2) };
  }

  #pixels() {
    return this.draw.getImageData(0, 0, this.canvas.width, this.canvas.height);
  }

  #remember() {
    this.#undo.push(this.#pixels());
    const most = Math.max(1, Math.floor(MOST_UNDONE / (4 * this.canvas.width * this.canvas.height)));
    if (this.#undo.length > most) this.#undo.shift();
  }

  // Say how much is ignored, and show where the rectangle of the keys is.
  #show() {
    const { data } = this.#pixels();
    let count = 0;
    for (let at = 3; at < data.length; at += 4) count += data[at] > 127;
    $("mask-share").textContent = `${((400 * count) / data.length).toFixed(1)} % ignored`;
    const { width, height } = this.canvas, box = this.#box;
    const sides = { left: box.x / width, top: box.y / height, width: box.width / width, height: box.height / height };
    for (const [side, share] of Object.entries(sides)) $("mask-box").style[side] = `${100 * share}%`;
    $("mask-undo").disabled = !this.#undo.length;
  }

  async #take(blob) {
    this.draw.drawImage(await createImageBitmap(blob), 0, 0, this.canvas.width, this.canvas.height);
    this.draw.putImageData(coloured(this.#pixels(), 0, IGNORED, INSPECTED), 0, 0);
  }

  // White where it is ignored, black elsewhere.
  async #png() {
    const copy = new OffscreenCanvas(this.canvas.width, this.canvas.height);
    copy.getContext("2d").putImageData(coloured(this.#pixels(), 3, WHITE, BLACK), 0, 0);
    return copy.convertToBlob({ type: "image/png" });
  }
}

// Pixels in two colours, by whether one of their four values is high.
function coloured(pixels, value, high, low) {
  const { data } = pixels;
  for (let at = 0; at < data.length; at += 4) data.set(data[at + value] > 127 ? high : low, at);
  return pixels;
}

const between = (one, other) => ({
  x: Math.min(one.x, other.x),
  y: Math.min(one.y, other.y),
  width: Math.abs(one.x - other.x),
  height: Math.abs(one.y - other.y),
});
