// Data without a page: JSON that loses nothing, JSON Schemas read for a form, calls written for other places.


// JSON

const canKeepDigits = typeof JSON.rawJSON === "function";

/** Tells whether a value is a number that JavaScript cannot hold. */
export const isRaw = (value) => canKeepDigits && JSON.isRawJSON(value);

/** Parses; integers beyond 2^53 stay as they were written. */
export function parse(text) {
  if (!canKeepDigits) return JSON.parse(text);
  return JSON.parse(text, (_key, value, context) => {
    const loses = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
    return loses && /^-?\d+$/.test(context.source) ? JSON.rawJSON(context.source) : value;
  });
}

export const stringify = (value, indent) => JSON.stringify(value, null, indent) ?? "";

/** Parses what a person types: `{value}`, or `{error, line, column}`. */
export function read(text) {
  try {
    return { value: parse(text) };
  } catch {
    const before = text.slice(0, brokenAt(text)).split("\n");
    const found = text.slice(before.join("\n").length).match(/^\S{1,12}/);
    const error = found ? `${found[0]} cannot stand here` : "something is missing here";
    return { error, line: before.length, column: before.at(-1).length + 1 };
  }
}

/** Finds where text stops to be JSON; browsers do not agree on how to tell. */
function brokenAt(text) {
  let at = 0;
  const take = (pattern) => {
    pattern.lastIndex = at;
    const isThere = pattern.test(text);
    if (isThere) at = pattern.lastIndex;
    return isThere;
  };
  const space = () => take(/[ \t\r\n]*/y);
  const string = () => take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y);
  const list = (end, item) => {
    space();
    if (take(end)) return true;
    do if (!item()) return false;
    while (take(/,/y));
    return take(end);
  };
  const value = () => {
    space();
    let isFine;
    if (take(/\{/y)) isFine = list(/\}/y, () => (space(), string()) && (space(), take(/:/y)) && value());
    else if (take(/\[/y)) isFine = list(/\]/y, value);
    else isFine = string() || take(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y) || take(/true|false|null/y);
    space();
    return isFine;
  };
  value();
  return at;
}

/** Names the type of a value as JSON Schema does. */
export function typeOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isRaw(value)) return "integer";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** Adds a key to a JSON Pointer. */
export const pointer = (path, key) => `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

// Schemas

const MAX_DEPTH = 12;
const MASK = "••••••";

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Follows references inside the document and merges `allOf`; gives `{}` for what it cannot follow. */
export function resolve(schema, root, depth = 0) {
  if (!isObject(schema) || depth > MAX_DEPTH) return {};
  if (typeof schema.$ref === "string") {
    const { $ref, ...beside } = schema;
    const target = lookUp($ref, root);
    return target === undefined ? beside : { ...resolve(target, root, depth + 1), ...beside };
  }
  if (!Array.isArray(schema.allOf)) return schema;
  const { allOf, ...own } = schema;
  return allOf.map((part) => resolve(part, root, depth + 1)).reduce(merge, own);
}

function lookUp(reference, root) {
  if (!reference.startsWith("#")) return undefined;
  const keys = reference.slice(1).split("/").slice(1);
  return keys.reduce((value, key) => value?.[decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~")], root);
}

function merge(left, right) {
  const merged = { ...right, ...left };
  if (left.properties || right.properties) merged.properties = { ...right.properties, ...left.properties };
  if (left.required || right.required) merged.required = [...new Set([...(left.required ?? []), ...(right.required ?? [])])];
  return merged;
}

/** Says what to draw: a field, `variants`, or `json` where no form can help. The schema has to be resolved. */
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

/** Lists the variants of a schema, each a whole schema with a label. */
export function variantsOf(schema, root) {
  const { oneOf, anyOf, ...own } = schema;
  const parts = oneOf ?? anyOf ?? schema.type.map((type) => ({ type }));
  if (!oneOf && !anyOf) delete own.type;
  delete own.title;
  delete own.default;
  return parts.map((part, index) => {
    const resolved = resolve(part, root);
    return { label: labelOf(resolved, index), schema: merge(resolved, own) };
  });
}

function labelOf(schema, index) {
  if (schema.title) return String(schema.title);
  const fixed = Object.values(schema.properties ?? {}).find((property) => isObject(property) && "const" in property);
  if (fixed) return String(fixed.const);
  if ("const" in schema) return String(schema.const);
  return typeof schema.type === "string" ? schema.type : `Option ${index + 1}`;
}

/** Splits `X or null` into X; gives nothing for anything else. */
export function nullable(variants) {
  const others = variants.filter((variant) => variant.schema.type !== "null");
  return others.length === 1 && variants.length === 2 ? others[0].schema : undefined;
}

/** Finds the variant that a value looks like. */
export function variantFor(value, variants, root) {
  if (value === undefined) return 0;
  const points = variants.map(({ schema }) => likeness(value, schema, root));
  return points.indexOf(Math.max(...points));
}

function likeness(value, schema, root) {
  if ("const" in schema) return JSON.stringify(schema.const) === JSON.stringify(value) ? 5 : -5;
  if (Array.isArray(schema.enum)) return schema.enum.some((it) => JSON.stringify(it) === JSON.stringify(value)) ? 4 : -5;
  const type = typeOf(value);
  const wanted = schema.type ?? (schema.properties ? "object" : undefined);
  if (wanted && wanted !== type && !(wanted === "number" && type === "integer")) return -10;
  if (type !== "object") return wanted === type ? 2 : 1;
  let points = 0;
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const resolved = resolve(property, root);
    if (Object.hasOwn(value, key)) points += "const" in resolved ? likeness(value[key], resolved, root) : 1;
    else if (schema.required?.includes(key)) points -= 2;
  }
  return points;
}

/** Makes a value to begin with: defaults, constants, and the required parts of objects. */
export function initial(given, root, depth = 0) {
  const schema = resolve(given, root);
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
      return initial(nullable(variants) ?? variants[0].schema, root, depth + 1);
    }
    default:
      return undefined;
  }
}

/** A required part that a person has to fill in begins empty; only what is fixed or nested is put in. */
function initialIfFixed(property, root, depth) {
  const kind = kindOf(resolve(property, root));
  return ["const", "object", "map"].includes(kind) || "default" in resolve(property, root) ? initial(property, root, depth) : undefined;
}

/** Makes a value for a new item of a list, which cannot be left out as a property can. */
export function initialItem(schema, root) {
  const value = initial(schema, root);
  if (value !== undefined) return value;
  const resolved = resolve(schema, root);
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

/** Hides what a schema or a name marks as secret. */
export function masked(value, schema, root) {
  const resolved = resolve(schema, root);
  if (Array.isArray(value)) return value.map((item) => masked(item, resolved.items, root));
  if (typeOf(value) !== "object") return resolved.format === "password" || resolved.writeOnly ? MASK : value;
  const parts = Object.entries(value).map(([key, part]) => {
    const isSecret = /secret|token|passw|api_?key|credential/i.test(key) && typeof part === "string";
    return [key, isSecret ? MASK : masked(part, resolved.properties?.[key], root)];
  });
  return Object.fromEntries(parts);
}

/** Leaves out what was masked, so that nobody sends a mask in the place of a secret. */
export function withoutMasks(value) {
  if (Array.isArray(value)) return value.map(withoutMasks);
  if (typeOf(value) !== "object") return value;
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== MASK).map(([key, part]) => [key, withoutMasks(part)]));
}

/** Says in a few words what a field takes. */
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

// Calls for other places

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
