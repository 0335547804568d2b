// @ts-check
// Sends calls.

import { tryParse } from "./json.js";
import { send, statusMessage } from "./server.js";

/** @import { CallOutcome } from "../types.js" */

/**
 * Sends a call and returns its outcome, also if it was rejected, canceled or lost.
 * @param {string} path
 * @param {string} body
 * @param {AbortSignal} signal
 * @returns {Promise<CallOutcome>}
 */
export async function sendCall(path, body, signal) {
  const since = performance.now();
  try {
    const { status, text, ms } = await send(path, { method: "POST", body, signal });
    const reply = tryParse(text).value;
    const output = Array.isArray(reply?.content) ? reply : undefined;
    const failure = { status, message: reply?.error ?? statusMessage(status) };
    return { status, text, ms, output, errors: reply?.errors, failure };
  } catch (failure) {
    const ms = performance.now() - since;
    return failure.name === "AbortError" ? { canceled: true, ms } : { status: 0, ms, failure };
  }
}
