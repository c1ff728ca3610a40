// What the page says about an image and a threshold.

import { apart, count, falseRejectRate, nats, percent } from "./scale.js";

// What is wrong with a file, without its name, with which the server begins.
export function reason({ name, error }) {
  const label = `${name.split("/").at(-1)}: `;
  const words = error.startsWith(label) ? error.slice(label.length) : error;
  return words[0].toUpperCase() + words.slice(1);
}

export function because(item, threshold) {
  if (!item.result) return item.status === "failed" ? reason(item) : "Waiting to be checked.";
  if (item.added) return "Marked as good: the model has learnt it.";
  if (!Number.isFinite(threshold)) return "There is no threshold, so nothing is rejected.";
  const [score, limit] = apart(item.result.score, threshold);
  return item.result.score > threshold
    ? `Rejected: its score of ${score} nats is above the threshold of ${limit}.`
    : `Passed: its score of ${score} nats is within the threshold of ${limit}.`;
}

export function mapNote(item, isRejected, model) {
  if (model.map_threshold === null) return "There are too few good images to say which places are unusual: the map stays clear.";
  if (item.result.map_peak > model.map_threshold || !isRejected) return "";
  const box = item.result.boxes_if_rejected.length ? "; the box is where it differs most" : "";
  return `No place by itself is unusual, so nothing is coloured${box}.`;
}

// The share of good images that a threshold rejects, as a headline and a sentence.
export function rateWords(model, threshold) {
  const scores = model.good_scores, all = scores.length;
  if (!Number.isFinite(threshold)) {
    const needed = Math.ceil(1 / model.false_reject_rate - 1e-9) - 1;
    const why = `${count(all, "good image")} cannot show that only ${percent(model.false_reject_rate)} of good parts are rejected.`;
    return ["Nothing is rejected", `${why} Mark images as good until there are ${needed}, or move the slider.`];
  }
  const rate = percent(falseRejectRate(scores, threshold));
  const above = scores.filter((score) => score > threshold).length;
  const known = above
    ? `${above} of the model's ${all} good images ${above === 1 ? "scores" : "score"} above it.`
    : `None of the model's ${all} good images scores above it; ${all} cannot show a rate below ${rate}.`;
  return [`≤ ${rate}`, `of good parts would be rejected. ${known}`];
}

export function againWords(items) {
  const unsent = items.filter((item) => item.unreachable).length;
  if (unsent) return `${count(unsent, "image")} could not be sent.`;
  return `The model has changed since ${items.length === 1 ? "an image was" : `${items.length} images were`} checked.`;
}
