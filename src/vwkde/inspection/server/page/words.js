// The sentences of the page about an image and a threshold.

import { apart, count, falseRejectRate, nats, percent } from "./scale.js";

// Why a file cannot be used; the server's message without the file name at its start.
export function reason({ name, error }) {
  const label = `${name.split("/").at(-1)}: `;
  const words = error.startsWith(label) ? error.slice(label.length) : error;
  return words[0].toUpperCase() + words.slice(1);
}

export function because(item, threshold) {
  if (!item.result) return item.status === "failed" ? reason(item) : "Waiting to be checked.";
  if (item.added) return "Marked as good: the model has learnt it.";
  if (!Number.isFinite(threshold)) return "There is no threshold, so no image is rejected.";
  const [score, limit] = apart(item.result.score, threshold);
  return item.result.score > threshold
    ? `Rejected: its score of ${score} nats is above the threshold of ${limit}.`
    : `Passed: its score of ${score} nats is not above the threshold of ${limit}.`;
}

export function mapNote(item, isRejected, model) {
  if (model.map_threshold === null) return "There are too few good images to say which places are unusual, so the map has no colours.";
  if (item.result.map_peak > model.map_threshold || !isRejected) return "";
  const box = item.result.boxes_if_rejected.length ? "; the box marks where it differs most" : "";
  return `No single place is unusual, so nothing is coloured${box}.`;
}

// The share of good images that a threshold rejects, as a headline and a sentence.
export function rateWords(model, threshold) {
  const scores = model.good_scores, all = scores.length;
  if (!Number.isFinite(threshold)) {
    const needed = Math.ceil(1 / model.false_reject_rate - 1e-9) - 1;
    const why = `${count(all, "good image")} are too few for a false-reject rate of ${percent(model.false_reject_rate)}.`;
    return ["No image is rejected", `${why} Mark images as good until there are ${needed}, or move the slider.`];
  }
  const rate = percent(falseRejectRate(scores, threshold));
  const above = scores.filter((score) => score > threshold).length;
  const known = above
    ? `${above} of the model's ${all} good images ${above === 1 ? "scores" : "score"} above it.`
    : `None of the model's ${all} good images scores above it; ${all} images cannot show a rate below ${rate}.`;
  return [`≤ ${rate}`, `of good parts would be rejected. ${known}`];
}

export function againWords(items) {
  const unsent = items.filter((item) => item.unreachable).length;
  if (unsent) return `${count(unsent, "image")} could not be sent.`;
  return `The model has changed since ${items.length === 1 ? "an image was" : `${items.length} images were`} checked.`;
}
