// @ts-check
// Masks for secrets in arguments.

import { typeOf } from "./json.js";
import { resolveSchema } from "./schema.js";

/** @import { Json, Schema } from "../types.js" */

/** Shown instead of a secret. */
const MASK = "••••••";

/**
 * Masks what a schema or a name marks as secret.
 * @param {Json} value
 * @param {Schema | undefined} schema
 * @param {Schema} root
 * @returns {Json}
 */
export function masked(value, schema, root) {
  const resolved = resolveSchema(schema, root);
  if (Array.isArray(value)) return value.map((item) => masked(item, resolved.items, root));
  if (typeOf(value) !== "object") return resolved.format === "password" || resolved.writeOnly ? MASK : value;
  const parts = Object.entries(value).map(([key, part]) => {
    const isSecret = /secret|token|passw|api_?key|credential/i.test(key) && typeof part === "string";
    return [key, isSecret ? MASK : masked(part, resolved.properties?.[key], root)];
  });
  return Object.fromEntries(parts);
}

/**
 * Removes masked values, so that a mask is never sent as a secret.
 * @param {Json} value
 * @returns {Json}
 */
export function withoutMasks(value) {
  if (Array.isArray(value)) return value.map(withoutMasks);
  if (typeOf(value) !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== MASK)
      .map(([key, part]) => [key, withoutMasks(part)]),
  );
}
