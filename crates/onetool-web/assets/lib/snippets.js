// @ts-check
// A call as cURL, Python, MCP JSON or a command line.

import { isRaw, stringify, typeOf } from "./json.js";

/** @import { Json, JsonObject } from "../types.js" */

/** The keywords of Python. */
const KEYWORDS = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global " +
    "if import in is lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
);

/**
 * Returns whether text can be a Python name.
 * @param {string} text
 */
const isIdentifier = (text) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) && !KEYWORDS.has(text);

/**
 * Quotes text for a POSIX shell.
 * @param {string} text
 */
export const shellQuote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Writes a call as a cURL command; the token is hidden unless `reveal` is set.
 * @param {string} url
 * @param {JsonObject} args
 * @param {string | null} token
 * @param {boolean} reveal
 * @returns {string}
 */
export function curlCommand(url, args, token, reveal) {
  const lines = [`curl -X POST ${shellQuote(url)}`, "-H 'Content-Type: application/json'"];
  if (token)
    lines.push(reveal ? `-H ${shellQuote(`Authorization: Bearer ${token}`)}` : '-H "Authorization: Bearer $TOKEN"');
  lines.push(`-d ${shellQuote(stringify(args))}`);
  return lines.join(" \\\n  ");
}

/**
 * Writes a call as the `run` tool accepts it.
 * @param {string} name
 * @param {JsonObject} args
 * @returns {string}
 */
export function pythonCall(name, args) {
  const path = name.split(".").map((part) => part.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d)/, "_"));
  const plain = Object.entries(args).filter(([key]) => isIdentifier(key));
  const odd = Object.entries(args).filter(([key]) => !isIdentifier(key));
  const parts = plain.map(([key, value]) => `${key}=${pythonLiteral(value)}`);
  if (odd.length) parts.push(`**${pythonLiteral(Object.fromEntries(odd))}`);
  const line = `${path.join(".")}(${parts.join(", ")})`;
  return line.length <= 88 ? line : `${path.join(".")}(\n${parts.map((part) => `    ${part},\n`).join("")})`;
}

/**
 * Writes a value as a Python literal.
 * @param {Json} value
 * @returns {string}
 */
function pythonLiteral(value) {
  if (isRaw(value)) return stringify(value);
  switch (typeOf(value)) {
    case "null":
    case "undefined":
      return "None";
    case "boolean":
      return value ? "True" : "False";
    case "array":
      return `[${value.map(pythonLiteral).join(", ")}]`;
    case "object":
      return `{${Object.entries(value)
        .map(([key, part]) => `${stringify(key)}: ${pythonLiteral(part)}`)
        .join(", ")}}`;
    default:
      return stringify(value);
  }
}

/**
 * Writes a call as an MCP request.
 * @param {string} name
 * @param {JsonObject} args
 * @returns {string}
 */
export function mcpRequest(name, args) {
  return stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }, 2);
}

/**
 * Returns whether a shell needs no quotes around text.
 * @param {string} text
 */
const isPlain = (text) => /^[\w.-]+$/.test(text);

/**
 * Writes a call for the onetool command line.
 * @param {string} name
 * @param {JsonObject} args
 */
export const cliCommand = (name, args) =>
  `onetool call ${isPlain(name) ? name : shellQuote(name)} --json ${shellQuote(stringify(args))}`;

/**
 * Returns the name that MCP clients see.
 * @param {string} name
 * @returns {string}
 */
export function flatName(name) {
  const flat = [...name].map((letter) => (/[A-Za-z0-9_-]/.test(letter) ? letter : "_")).join("");
  if (flat.length <= 64) return flat;
  const bytes = new TextEncoder().encode(name);
  const hash = bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5);
  return `${flat.slice(0, 55)}_${hash.toString(16).padStart(8, "0")}`;
}
