// @ts-check
// The value that a form starts with.

import { kindOf, MAX_DEPTH, nullable, resolveSchema, variantsOf } from "./schema.js";

/** @import { Json, Schema } from "../types.js" */

/**
 * Returns the value to start with: defaults, constants, and the required parts of objects.
 * @param {Schema} given
 * @param {Schema} root
 * @param {number} [depth]
 * @returns {Json}
 */
export function initialValue(given, root, depth = 0) {
  const schema = resolveSchema(given, root);
  if ("default" in schema) return structuredClone(schema.default);
  if (depth > MAX_DEPTH / 2) return undefined;
  switch (kindOf(schema)) {
    case "const":
      return schema.const;
    case "object": {
      const required = Object.entries(schema.properties).filter(([key]) => schema.required?.includes(key));
      const parts = required.map(([key, property]) => [key, initialIfFixed(property, root, depth + 1)]);
      return Object.fromEntries(parts.filter(([, value]) => value !== undefined));
    }
    case "map":
      return {};
    case "array":
      return [];
    case "variants": {
      const variants = variantsOf(schema, root);
      return initialValue(nullable(variants) ?? variants[0].schema, root, depth + 1);
    }
    default:
      return undefined;
  }
}

/**
 * Returns the start value of a required property; what a person has to fill in stays empty.
 * @param {Schema} property
 * @param {Schema} root
 * @param {number} depth
 * @returns {Json}
 */
function initialIfFixed(property, root, depth) {
  const kind = kindOf(resolveSchema(property, root));
  return ["const", "object", "map"].includes(kind) || "default" in resolveSchema(property, root)
    ? initialValue(property, root, depth)
    : undefined;
}

/**
 * Returns the value of a new list item, which unlike a property cannot be omitted.
 * @param {Schema} schema
 * @param {Schema} root
 * @returns {Json}
 */
export function initialItem(schema, root) {
  const value = initialValue(schema, root);
  if (value !== undefined) return value;
  const resolved = resolveSchema(schema, root);
  switch (kindOf(resolved)) {
    case "enum":
      return resolved.enum[0];
    case "boolean":
      return false;
    case "integer":
    case "number":
      return resolved.minimum ?? 0;
    case "string":
      return "";
    case "variants": {
      const variants = variantsOf(resolved, root);
      return initialItem(nullable(variants) ?? variants[0].schema, root);
    }
    default:
      return null;
  }
}
