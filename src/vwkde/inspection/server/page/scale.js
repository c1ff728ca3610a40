// What a threshold means for good images, the axis of scores, and numbers as text.

const PAD = 0.04;

// An upper bound on the share of good images that a threshold rejects: (1 + good images above it) / (1 + good images).
// The model's own threshold follows the same rule.
export const falseRejectRate = (scores, threshold) =>
  (1 + scores.filter((score) => score > threshold).length) / (scores.length + 1);

export const pValue = (scores, score) => (1 + scores.filter((each) => each >= score).length) / (scores.length + 1);

// An axis from 0 to 1 that is linear near the good scores and compressed far from them, so that a bad image with a
// hundred times the score leaves room for the good ones.
export function makeAxis(good, others) {
  const sorted = [...good].sort((a, b) => a - b);
  const quantile = (share) => sorted[Math.round(share * (sorted.length - 1))];
  const middle = quantile(0.5);
  const width = 2 * (quantile(0.9) - quantile(0.1)) || Math.abs(middle) || 1;
  const bend = (score) => Math.asinh((score - middle) / width);
  const [least, most] = range([...good, ...others].filter(Number.isFinite));
  const pad = PAD * (bend(most) - bend(least) || 1);
  const [low, high] = [bend(least) - pad, bend(most) + 2 * pad];
  return {
    place: (score) => Math.min(1, Math.max(0, (bend(score) - low) / (high - low))),
    score: (place) => middle + width * Math.sinh(low + place * (high - low)),
  };
}

const range = (values) => values.reduce(([low, high], each) => [Math.min(low, each), Math.max(high, each)], [Infinity, -Infinity]);

// Round numbers on the axis, rounder ones first, at least the gap apart.
export function ticks(axis, gap) {
  const [low, high] = [axis.score(0), axis.score(1)];
  const candidates = [0];
  for (const digit of [1, 5, 2]) {
    for (let power = 5; power >= -3; power--) candidates.push(digit * 10 ** power, -digit * 10 ** power);
  }
  const chosen = [];
  for (const score of candidates.filter((each) => each > low && each < high)) {
    const isFar = (other) => Math.abs(axis.place(other) - axis.place(score)) >= gap;
    if (chosen.every(isFar)) chosen.push(score);
  }
  return chosen;
}

const withDigits = (value, least, most) =>
  value
    .toLocaleString("en", { minimumSignificantDigits: least, maximumSignificantDigits: most, useGrouping: false })
    .replace("-", "−");

// A number with at most three digits.
export const round = (value) => withDigits(value, 1, 3);

// A score with three digits; "none" for an infinite threshold.
export const nats = (value) => (Number.isFinite(value) ? withDigits(value, 3, 3) : "none");

// Two scores with enough digits to distinguish them.
export function apart(one, other) {
  for (let digits = 3; digits < 8; digits++) {
    const texts = [one, other].map((value) => withDigits(value, digits, digits));
    if (texts[0] !== texts[1]) return texts;
  }
  return [nats(one), nats(other)];
}

export const percent = (share) => `${withDigits(100 * share, 1, share < 0.1 ? 2 : 3)}\u00a0%`;

export const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

export const bytes = (number) =>
  number < 2 ** 20 ? `${Math.ceil(number / 2 ** 10)}\u00a0KiB` : `${withDigits(number / 2 ** 20, 1, 3)}\u00a0MiB`;
