// @ts-check
// JSON Schemas, read for a form.

import { typeOf } from "./json.js";

/** @import { Json, JsonObject, Kind, Schema, Variant } from "../types.js" */

/** How deep schemas are followed. */
export const MAX_DEPTH = 12;

/**
 * Returns whether a value is a JSON object.
 * @param {unknown} value
 * @returns {value is JsonObject}
 */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Follows references inside the document and merges `allOf`; returns `{}` for what it cannot follow.
 * @param {unknown} schema
 * @param {Schema} root
 * @param {number} [depth]
 * @returns {Schema}
 */
export function resolveSchema(schema, root, depth = 0) {
  if (!isObject(schema) || depth > MAX_DEPTH) return {};
  if (typeof schema.$ref === "string") {
    const { $ref, ...siblings } = schema;
    const target = lookUp($ref, root);
    return target === undefined ? siblings : { ...resolveSchema(target, root, depth + 1), ...siblings };
  }
  if (!Array.isArray(schema.allOf)) return schema;
  const { allOf, ...own } = schema;
  return allOf.map((part) => resolveSchema(part, root, depth + 1)).reduce(mergeSchemas, own);
}

/**
 * Returns what a reference inside the document points to.
 * @param {string} reference
 * @param {Schema} root
 * @returns {Schema | undefined}
 */
function lookUp(reference, root) {
  if (!reference.startsWith("#")) return undefined;
  const keys = reference.slice(1).split("/").slice(1);
  return keys.reduce(
    (value, key) => value?.[decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~")],
    root,
  );
}

/**
 * Merges two schemas; `left` wins.
 * @param {Schema} left
 * @param {Schema} right
 * @returns {Schema}
 */
function mergeSchemas(left, right) {
  const merged = { ...right, ...left };
  if (left.properties || right.properties) merged.properties = { ...right.properties, ...left.properties };
  if (left.required || right.required)
    merged.required = [...new Set([...(left.required ?? []), ...(right.required ?? [])])];
  return merged;
}

/**
 * Returns the kind of control for a resolved schema; `json` if no form can show it.
 * @param {Schema} schema
 * @returns {Kind}
 */
export function kindOf(schema) {
  if ("const" in schema) return "const";
  if (Array.isArray(schema.enum)) return "enum";
  if (schema.oneOf ?? schema.anyOf) return "variants";
  if (Array.isArray(schema.type)) return schema.type.length ? "variants" : "json";
  const type = schema.type ?? (schema.properties ? "object" : schema.items ? "array" : undefined);
  switch (type) {
    case "string":
    case "integer":
    case "number":
    case "boolean":
    case "null":
      return type;
    case "array":
      return schema.prefixItems || Array.isArray(schema.items) ? "json" : "array";
    case "object":
      if (schema.properties && Object.keys(schema.properties).length) return "object";
      return isObject(schema.additionalProperties) ? "map" : "json";
    default:
      return "json";
  }
}

/**
 * Returns the variants of a schema, each as a complete schema with a label.
 * @param {Schema} schema
 * @param {Schema} root
 * @returns {Variant[]}
 */
export function variantsOf(schema, root) {
  const { oneOf, anyOf, ...own } = schema;
  const parts = oneOf ?? anyOf ?? schema.type.map((/** @type {string} */ type) => ({ type }));
  if (!oneOf && !anyOf) delete own.type;
  delete own.title;
  delete own.default;
  return parts.map((/** @type {unknown} */ part, /** @type {number} */ index) => {
    const resolved = resolveSchema(part, root);
    return { label: labelOf(resolved, index), schema: mergeSchemas(resolved, own) };
  });
}

/**
 * Returns a short name for a variant.
 * @param {Schema} schema
 * @param {number} index
 * @returns {string}
 */
function labelOf(schema, index) {
  if (schema.title) return String(schema.title);
  const fixed = Object.values(schema.properties ?? {}).find((property) => isObject(property) && "const" in property);
  if (fixed) return String(fixed.const);
  if ("const" in schema) return String(schema.const);
  return typeof schema.type === "string" ? schema.type : `Option ${index + 1}`;
}

/**
 * Returns X for the variants "X or null", otherwise nothing.
 * @param {Variant[]} variants
 * @returns {Schema | undefined}
 */
export function nullable(variants) {
  const others = variants.filter((variant) => variant.schema.type !== "null");
  return others.length === 1 && variants.length === 2 ? others[0].schema : undefined;
}

/**
 * Returns the index of the variant that a value matches best.
 * @param {Json} value
 * @param {Variant[]} variants
 * @param {Schema} root
 * @returns {number}
 */
export function variantFor(value, variants, root) {
  if (value === undefined) return 0;
  const points = variants.map(({ schema }) => likeness(value, schema, root));
  return points.indexOf(Math.max(...points));
}

/**
 * Scores how well a value matches a schema.
 * @param {Json} value
 * @param {Schema} schema
 * @param {Schema} root
 * @returns {number}
 */
function likeness(value, schema, root) {
  if ("const" in schema) return JSON.stringify(schema.const) === JSON.stringify(value) ? 5 : -5;
  if (Array.isArray(schema.enum))
    return schema.enum.some((it) => JSON.stringify(it) === JSON.stringify(value)) ? 4 : -5;
  const type = typeOf(value);
  const expected = schema.type ?? (schema.properties ? "object" : undefined);
  if (expected && expected !== type && !(expected === "number" && type === "integer")) return -10;
  if (type !== "object") return expected === type ? 2 : 1;
  let points = 0;
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const resolved = resolveSchema(property, root);
    if (Object.hasOwn(value, key)) points += "const" in resolved ? likeness(value[key], resolved, root) : 1;
    else if (schema.required?.includes(key)) points -= 2;
  }
  return points;
}

/**
 * Summarizes the constraints of a field.
 * @param {Schema} schema
 * @returns {string}
 */
export function hintOf(schema) {
  const parts = [];
  const type = Array.isArray(schema.type) ? schema.type.join(" or ") : schema.type;
  if (type && !schema.enum) parts.push(schema.format && type === "string" ? schema.format : type);
  const low = schema.minimum ?? schema.exclusiveMinimum;
  const high = schema.maximum ?? schema.exclusiveMaximum;
  if (low !== undefined && high !== undefined) parts.push(`${low}–${high}`);
  else if (low !== undefined) parts.push(schema.minimum !== undefined ? `≥ ${low}` : `> ${low}`);
  else if (high !== undefined) parts.push(schema.maximum !== undefined ? `≤ ${high}` : `< ${high}`);
  if (schema.maxLength !== undefined) parts.push(`up to ${schema.maxLength} characters`);
  if (schema.minItems !== undefined) parts.push(`at least ${schema.minItems}`);
  if (schema.maxItems !== undefined) parts.push(`at most ${schema.maxItems}`);
  if (schema.pattern) parts.push(`like ${schema.pattern}`);
  return parts.join(" · ");
}
