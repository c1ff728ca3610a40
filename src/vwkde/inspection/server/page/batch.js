// The images of a batch, and the queue in which they wait to be checked.

import * as api from "./api.js";

const AT_ONCE = 2;
let nextId = 1;

export const makeItem = (file, name) => ({ id: nextId++, file, name, status: "waiting" });

// Checks waiting images, a few at a time; `changed` is called with each finished image, and with null at the end.
export class Queue {
  done = 0;
  total = 0;
  #waiting = [];
  #workers = 0;
  #abort = new AbortController();

  constructor(changed) {
    this.changed = changed;
  }

  get busy() {
    return this.#workers > 0;
  }

  add(items) {
    if (!this.busy) this.done = this.total = 0;
    for (const item of items) item.status = "waiting";
    this.#waiting.push(...items);
    this.total += items.length;
    while (this.#workers < Math.min(AT_ONCE, this.#waiting.length)) this.#work();
  }

  // Stop all waiting and running checks; `changed` is called with each, with the status "stopped".
  stop() {
    this.#abort.abort();
    this.#abort = new AbortController();
    for (const item of this.#waiting.splice(0)) {
      item.status = "stopped";
      this.changed(item);
    }
  }

  async #work() {
    this.#workers += 1;
    await null; // let the other workers start
    while (this.#waiting.length) {
      const item = this.#waiting.shift();
      await checkItem(item, this.#abort.signal);
      this.done += 1;
      this.changed(item);
    }
    this.#workers -= 1;
    this.changed(null);
  }
}

async function checkItem(item, signal) {
  try {
    const { map_png: map, ...result } = await api.check(item.file, signal);
    Object.assign(item, { result, map: pngBlob(map), status: "done", error: undefined, unreachable: false });
  } catch (error) {
    const status = error.name === "AbortError" ? "stopped" : "failed";
    Object.assign(item, { status, error: error.message, unreachable: error.unreachable });
  }
}

function pngBlob(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new Blob([bytes], { type: "image/png" });
}

// The image in a format that the browser can show: the file itself, or a PNG from the server.
export function pictureOf(item) {
  item.picture ??= createImageBitmap(item.file).then(
    (bitmap) => {
      bitmap.close();
      return item.file;
    },
    () => api.picture(item.file),
  );
  return item.picture;
}

// Worst first, then images that could not be checked, then waiting ones.
export function worstFirst(items) {
  const rank = (item) => (item.result ? 0 : item.status === "failed" ? 1 : 2);
  const score = (item) => item.result?.score ?? 0;
  return [...items].sort((a, b) => rank(a) - rank(b) || score(b) - score(a) || a.id - b.id);
}
