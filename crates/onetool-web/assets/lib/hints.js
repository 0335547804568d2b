// @ts-check
// The annotations of a tool, explained.

/** @import { Annotations, Hint, HintKey } from "../types.js" */

/**
 * Key, MCP's default, and the labels and explanations for true and false.
 * @type {[HintKey, boolean, string, string, string, string][]}
 */
const HINTS = [
  ["readOnlyHint", false, "read-only", "writes", "Makes no changes.", "May make changes."],
  ["destructiveHint", true, "destructive", "not destructive", "May delete or overwrite data.", "Only adds data."],
  [
    "idempotentHint",
    false,
    "idempotent",
    "not idempotent",
    "Repeating a call has no further effect.",
    "Repeating a call may have further effects.",
  ],
  ["openWorldHint", true, "open world", "closed world", "Reaches other systems.", "Stays within this system."],
];

/**
 * Returns the hints of a tool, given or implied.
 * @param {Annotations} [annotations]
 * @returns {Hint[]}
 */
export function hintsOf(annotations = {}) {
  return HINTS.map(([key, implied, yes, no, whenYes, whenNo]) => {
    const isSet = annotations[key] !== undefined;
    const value = annotations[key] ?? implied;
    return {
      key,
      isSet,
      value,
      label: value ? yes : no,
      title: `${value ? whenYes : whenNo}${isSet ? "" : " Not set by the tool; this is MCP's default."}`,
    };
  }).filter(
    ({ key, isSet }) =>
      isSet || annotations.readOnlyHint !== true || !["destructiveHint", "idempotentHint"].includes(key),
  );
}
