// @ts-check
// Requests to the server.

import { parse } from "./json.js";
import { getToken } from "./token.js";

/** @import { PageConfig, QueryValues, Reply, RequestOptions } from "../types.js" */

/** The root of the mount. The modules are served as one file, in `assets/`. */
export const base = new URL("..", import.meta.url);

/**
 * The configuration that the server embedded in the page.
 * @type {PageConfig}
 */
export const config = JSON.parse(document.getElementById("config")?.textContent ?? "{}");

/** A response that is not a success; `status` 0 means that there was no response. */
export class Failure extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * Returns the path of a tool.
 * @param {string} name
 * @param {string} [rest]
 */
export const toolPath = (name, rest = "") => `tools/${encodeURIComponent(name)}${rest}`;

/**
 * Called when the server does not accept the token.
 * @type {(hadToken: boolean) => void}
 */
export let onRefused = () => {};

/**
 * Sets what to do when the server does not accept the token.
 * @param {(hadToken: boolean) => void} listener
 */
export function whenRefused(listener) {
  onRefused = listener;
}

/** Returns the headers that carry the access token, if there is one. */
export const authorization = () => new Headers(getToken() ? { authorization: `Bearer ${getToken()}` } : {});

/**
 * Describes a response without an error message.
 * @param {number} status
 */
export const statusMessage = (status) => `The server responded with status ${status}.`;

/**
 * Sends a request and returns status, text and time, whatever the status.
 * @param {string} path
 * @param {RequestOptions} [options]
 * @returns {Promise<Reply>}
 */
export async function send(path, { method = "GET", body, signal } = {}) {
  const headers = authorization();
  if (body !== undefined) headers.set("content-type", "application/json");
  const begun = performance.now();
  let response;
  let text;
  try {
    response = await fetch(new URL(path, base), { method, headers, body, signal, cache: "no-store" });
    text = await response.text();
  } catch (failure) {
    if (failure.name === "AbortError") throw failure;
    throw new Failure(0, "The server did not respond. Is it still running?");
  }
  if (response.status === 401) onRefused(Boolean(getToken()));
  return { status: response.status, text, ms: performance.now() - begun };
}

/**
 * Sends a request and returns the data; throws unless it succeeds.
 * @param {string} path
 * @param {RequestOptions} [options]
 * @returns {Promise<any>}
 */
export async function ask(path, options = {}) {
  const body = options.body === undefined ? undefined : JSON.stringify(options.body);
  const { status, text } = await send(path, { ...options, body });
  let data;
  try {
    data = parse(text);
  } catch {
    data = undefined;
  }
  if (status >= 200 && status < 300) return data;
  throw new Failure(status, data?.error ?? statusMessage(status));
}

/**
 * Writes the query of an address, without empty values.
 * @param {QueryValues} values
 */
const queryString = (values) => {
  const given = Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== "" && value !== false)
    .map(([name, value]) => [name, String(value)]);
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

/**
 * Sends a request to the API of the gateway.
 * @param {string} path
 * @param {QueryValues} [values]
 * @param {RequestOptions} [options]
 */
export const api = (path, values = {}, options) => ask(`api/v1/${path}${queryString(values)}`, options);
