// @ts-check
// Line-by-line differences.

/** @import { DiffLine } from "../types.js" */

const MAX_DIFF_LINES = 2000;

/**
 * Returns lines with a sign: `+` added, `-` removed, or a space.
 * @param {string} before
 * @param {string} after
 * @returns {DiffLine[]}
 */
export function diffLines(before, after) {
  const left = before.split("\n").slice(0, MAX_DIFF_LINES);
  const right = after.split("\n").slice(0, MAX_DIFF_LINES);
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  /** @param {string[]} lines @returns {DiffLine[]} */
  const same = (lines) => lines.map((text) => ({ sign: " ", text }));
  const middle = diffMiddle(left.slice(start, left.length - end), right.slice(start, right.length - end));
  return [...same(left.slice(0, start)), ...middle, ...same(left.slice(left.length - end))];
}

/**
 * Compares by the longest common subsequence, after common lines at both ends were removed.
 * @param {string[]} left
 * @param {string[]} right
 * @returns {DiffLine[]}
 */
function diffMiddle(left, right) {
  const width = right.length + 1;
  const lengths = new Uint16Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i -= 1)
    for (let j = right.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        left[i] === right[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
  /** @type {DiffLine[]} */
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      lines.push({ sign: " ", text: left[i] });
      i += 1;
      j += 1;
    } else if (j >= right.length || (i < left.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      lines.push({ sign: "-", text: left[i] });
      i += 1;
    } else {
      lines.push({ sign: "+", text: right[j] });
      j += 1;
    }
  }
  return lines;
}
