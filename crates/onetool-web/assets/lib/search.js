// @ts-check
// Tool search in the page.

/** @import { Hit, Tool } from "../types.js" */

/**
 * Splits text into lowercase words.
 * @param {string} text
 */
const wordsOf = (text) =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/**
 * Ranks tools in the page: until the server responds, and if there is no gateway.
 * @param {Tool[]} tools
 * @param {string} query
 * @returns {Hit[]}
 */
export function rankLocally(tools, query) {
  const terms = wordsOf(query);
  if (!terms.length) return tools.map((tool) => ({ tool }));
  const hits = [];
  for (const tool of tools) {
    const name = tool.name.toLowerCase();
    const about = tool.description.toLowerCase();
    let score = 0;
    const matched = [];
    for (const term of terms) {
      const fields = [];
      if (name.includes(term)) fields.push("name");
      if (about.includes(term)) fields.push("description");
      if (fields.length) matched.push({ term, fields });
      score +=
        (fields.includes("name") ? (name.startsWith(term) || name.includes(`.${term}`) ? 4 : 3) : 0) +
        (fields.includes("description") ? 1 : 0);
    }
    if (matched.length === terms.length) hits.push({ tool, points: score, matched });
  }
  return hits.sort((left, right) => right.points - left.points || left.tool.name.localeCompare(right.tool.name));
}

/**
 * Returns the names that share most of their letter pairs with the query.
 * @param {Tool[]} tools
 * @param {string} query
 * @returns {string[]}
 */
export function nearNames(tools, query) {
  /** @param {string} text */
  const pairs = (text) =>
    new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)));
  const queryPairs = pairs(query.toLowerCase().replace(/[\s_.]/g, ""));
  /** @param {string} name */
  const score = (name) => {
    const namePairs = pairs(name.toLowerCase().replace(/[\s_.]/g, ""));
    const shared = [...queryPairs].filter((pair) => namePairs.has(pair)).length;
    return (2 * shared) / (queryPairs.size + namePairs.size || 1);
  };
  const scored = tools.map(({ name }) => ({ name, points: score(name) })).filter(({ points }) => points > 0.3);
  const best = scored.sort((left, right) => right.points - left.points).slice(0, 3);
  return best.map(({ name }) => name);
}
