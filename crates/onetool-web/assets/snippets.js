// A call, written for other places: shell, Python, MCP, our command line.

import { isRaw, stringify, typeOf } from "./json.js";

const KEYWORDS = new Set(
  ("False None True and as assert async await break class continue def del elif else except finally for from global " +
    "if import in is lambda nonlocal not or pass raise return try while with yield").split(" "),
);

const isIdentifier = (text) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) && !KEYWORDS.has(text);

/** Quotes for a POSIX shell. */
export const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function curl(url, args, token, reveal) {
  const lines = [`curl -X POST ${shell(url)}`, "-H 'Content-Type: application/json'"];
  if (token) lines.push(reveal ? `-H ${shell(`Authorization: Bearer ${token}`)}` : '-H "Authorization: Bearer $TOKEN"');
  lines.push(`-d ${shell(stringify(args))}`);
  return lines.join(" \\\n  ");
}

/** Writes the call as the `run` tool takes it. */
export function python(name, args) {
  const path = name.split(".").map((part) => part.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d)/, "_"));
  const plain = Object.entries(args).filter(([key]) => isIdentifier(key));
  const odd = Object.entries(args).filter(([key]) => !isIdentifier(key));
  const parts = plain.map(([key, value]) => `${key}=${literal(value)}`);
  if (odd.length) parts.push(`**${literal(Object.fromEntries(odd))}`);
  const line = `${path.join(".")}(${parts.join(", ")})`;
  return line.length <= 88 ? line : `${path.join(".")}(\n${parts.map((part) => `    ${part},\n`).join("")})`;
}

/** Writes a value as a Python literal. */
export function literal(value) {
  if (isRaw(value)) return stringify(value);
  switch (typeOf(value)) {
    case "null":
    case "undefined":
      return "None";
    case "boolean":
      return value ? "True" : "False";
    case "array":
      return `[${value.map(literal).join(", ")}]`;
    case "object":
      return `{${Object.entries(value).map(([key, part]) => `${stringify(key)}: ${literal(part)}`).join(", ")}}`;
    default:
      return stringify(value);
  }
}

export function mcp(flat, args) {
  return stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: flat, arguments: args } }, 2);
}

export const cli = (name, args) => `onetool call ${isPlain(name) ? name : shell(name)} --json ${shell(stringify(args))}`;

const isPlain = (text) => /^[\w.-]+$/.test(text);

/** The name that MCP clients see. */
export function flatName(name) {
  const flat = [...name].map((letter) => (/[A-Za-z0-9_-]/.test(letter) ? letter : "_")).join("");
  if (flat.length <= 64) return flat;
  const bytes = new TextEncoder().encode(name);
  const hash = bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5);
  return `${flat.slice(0, 55)}_${hash.toString(16).padStart(8, "0")}`;
}
