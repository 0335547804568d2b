// @ts-check
// The event stream of the gateway.

import { authorization, base, Failure, onRefused } from "./server.js";

/** @import { ConnectionState, GatewayEvent } from "../types.js" */

/**
 * Listens until stopped, and reconnects after a loss. `onState` receives `live` and `lost`.
 * @param {(event: GatewayEvent) => void} onEvent
 * @param {(state: ConnectionState, isBack?: boolean) => void} onState
 */
export function listen(onEvent, onState) {
  const stopping = new AbortController();
  /** @param {number} ms */
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const run = async () => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        const response = await fetch(new URL("api/v1/events", base), {
          headers: authorization(),
          signal: stopping.signal,
        });
        if (response.status === 401) return onRefused(true);
        if (!response.ok || !response.body) throw new Failure(response.status, "no events");
        onState("live", failures > 0);
        failures = 0;
        await readEvents(response.body, onEvent);
      } catch {
        if (stopping.signal.aborted) return;
      }
      failures += 1;
      onState("lost");
      await wait(Math.min(500 * 2 ** failures, 15000));
    }
  };
  run();
  return () => stopping.abort();
}

/**
 * Reads server-sent events until the stream ends.
 * @param {ReadableStream<Uint8Array>} body
 * @param {(event: GatewayEvent) => void} onEvent
 */
async function readEvents(body, onEvent) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += decoder.decode(value, { stream: true });
    const messages = buffer.split("\n\n");
    buffer = messages.pop() ?? "";
    for (const message of messages) {
      const data = message
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trim());
      if (data.length) onEvent(JSON.parse(data.join("\n")));
    }
  }
}
