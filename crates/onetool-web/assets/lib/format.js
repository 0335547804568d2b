// @ts-check
// Numbers, sizes and times for people.

/**
 * Formats a size.
 * @param {number} count
 */
export const bytesOf = (count) => {
  if (count < 1000) return `${count} B`;
  return count < 1e6 ? `${(count / 1000).toFixed(1)} KB` : `${(count / 1e6).toFixed(1)} MB`;
};

/**
 * Formats a number.
 * @param {number | null | undefined} count
 */
export const numberOf = (count) => (count === undefined || count === null ? "–" : count.toLocaleString("en"));

/**
 * Formats a duration.
 * @param {number} ms
 */
export const durationOf = (ms) => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 90) return `${seconds.toFixed(1)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
};

/**
 * Formats the time since then.
 * @param {number} ms
 */
export const agoOf = (ms) => {
  const seconds = Math.max(0, (Date.now() - ms) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86400 ? `${Math.floor(seconds / 3600)} h ago` : `${Math.floor(seconds / 86400)} d ago`;
};

/**
 * Formats date and time.
 * @param {number} ms
 */
export const timeOf = (ms) => new Date(ms).toLocaleString(undefined, { dateStyle: "short", timeStyle: "medium" });

/**
 * Formats a percentage.
 * @param {number | undefined} rate
 */
export const percent = (rate) => (rate === undefined ? "–" : `${rate.toFixed(1)} %`);
