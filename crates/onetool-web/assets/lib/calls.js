// @ts-check
// Sends calls.

import { tryParse } from "./json.js";
import { send, statusMessage } from "./server.js";

/** @import { CallOutcome } from "../types.js" */

/**
 * Sends a call and returns its outcome, also if it was refused, canceled or lost.
 * @param {string} path
 * @param {string} body
 * @param {AbortSignal} signal
 * @returns {Promise<CallOutcome>}
 */
export async function sendCall(path, body, signal) {
  const since = performance.now();
  try {
    const { status, text, ms } = await send(path, { method: "POST", body, signal });
    const answer = tryParse(text).value;
    const output = Array.isArray(answer?.content) ? answer : undefined;
    const failure = { status, message: answer?.error ?? statusMessage(status) };
    return { status, text, ms, output, errors: answer?.errors, failure };
  } catch (failure) {
    const ms = performance.now() - since;
    return failure.name === "AbortError" ? { canceled: true, ms } : { status: 0, ms, failure };
  }
}
