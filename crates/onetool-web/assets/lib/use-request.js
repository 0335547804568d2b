// @ts-check
// A hook that sends a request and keeps the result.

import { useEffect, useState } from "../preact-htm.js";

/**
 * @import { StateHook } from "../preact-htm.js"
 * @import { RequestError } from "../types.js"
 */

/**
 * Sends a request again when one of `inputs` changes; keeps the last result in the meantime.
 * @template T
 * @param {() => Promise<T>} request
 * @param {readonly unknown[]} inputs
 * @returns {{ data?: T, failure?: RequestError, reload: () => void }}
 */
export function useRequest(request, inputs) {
  /** @type {StateHook<{ data?: T, failure?: RequestError }>} */
  const [result, setResult] = useState({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    let current = true;
    request().then(
      (data) => current && setResult({ data }),
      (failure) => current && failure.name !== "AbortError" && setResult((last) => ({ data: last.data, failure })),
    );
    return () => {
      current = false;
    };
  }, [...inputs, round]);
  return { ...result, reload: () => setRound((count) => count + 1) };
}
