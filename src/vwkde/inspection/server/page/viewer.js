// The selected image with its map and boxes, and thumbnails for the list.

import { pictureOf } from "./batch.js";
import { element } from "./histogram.js";

const THUMBNAIL = 88, THUMBNAIL_OPACITY = 0.65;
const OTHER_HEIGHT = 400; // height of everything above and below the image

const $ = (id) => document.getElementById(id);
const urls = {};
let latest;

// Show an image and its map; if several are requested, the last one is shown.
export async function showPixels(item) {
  const { image_width: width, image_height: height } = item.result;
  latest = item;
  $("stage").style.aspectRatio = `${width} / ${height}`;
  $("boxes").setAttribute("viewBox", `0 0 ${width} ${height}`);
  setSource("picture", null);
  setSource("map", null);
  const picture = await pictureOf(item);
  if (latest !== item) return;
  setSource("picture", picture);
  setSource("map", item.map);
  $("picture").alt = item.name;
}

function setSource(id, blob) {
  if (urls[id]) URL.revokeObjectURL(urls[id]);
  urls[id] = blob && URL.createObjectURL(blob);
  if (blob) $(id).src = urls[id];
  else $(id).removeAttribute("src");
}

export function showBoxes(boxes) {
  const outline = ({ top, left, bottom, right }) =>
    ["under", "over"].map((name) =>
      element("rect", { class: name, x: left, y: top, width: right - left, height: bottom - top }),
    );
  $("boxes").replaceChildren(...boxes.flatMap(outline));
}

// As large as the window allows, or at actual size.
export function fitStage({ image_width: width, image_height: height }, actual) {
  $("frame").classList.toggle("actual", actual);
  const room = Math.max(260, window.innerHeight - OTHER_HEIGHT);
  $("stage").style.width = actual ? `${width}px` : `min(100%, ${Math.round((room * width) / height)}px)`;
}

export async function drawThumbnail(item, canvas) {
  const draw = canvas.getContext("2d");
  const layers = [
    [await pictureOf(item), 1, "grayscale(1)"],
    [item.map, THUMBNAIL_OPACITY, "none"],
  ];
  for (const [blob, opacity, filter] of layers) {
    const bitmap = await createImageBitmap(blob);
    const scale = THUMBNAIL / Math.min(bitmap.width, bitmap.height);
    const [width, height] = [scale * bitmap.width, scale * bitmap.height];
    Object.assign(draw, { globalAlpha: opacity, filter });
    draw.drawImage(bitmap, (THUMBNAIL - width) / 2, (THUMBNAIL - height) / 2, width, height);
    bitmap.close();
  }
}
