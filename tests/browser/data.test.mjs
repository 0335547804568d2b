// The part of the page that needs no browser: JSON, schemas, snippets, differences of names.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { assert } from "./harness.mjs";

const assets = join(dirname(fileURLToPath(import.meta.url)), "../../crates/onetool-web/assets");
const data = await import(`data:text/javascript,${encodeURIComponent(readFileSync(join(assets, "data.js"), "utf8"))}`);

export default {
  "a broken text is told by line and column": () => {
    const table = [
      ['{\n  "a": oops\n}', 2, 8],
      ['{"a":1,}', 1, 8],
      ["[1 2]", 1, 4],
      ["{", 1, 2],
      ["", 1, 1],
      ['{"a": "x\ny"}', 1, 7],
      ["[1]]", 1, 4],
      ['{"a" 1}', 1, 6],
      ["[01]", 1, 3],
      ['["\\q"]', 1, 2],
    ];
    for (const [text, line, column] of table) {
      const { error, ...place } = data.read(text);
      assert.ok(error, text);
      assert.deepEqual(place, { line, column }, text);
    }
    for (const text of ['{"a": [1, -0.5e3, true, null, "\\u00e9\\n"]}', "[]", ' "x" ']) assert.deepEqual(data.read(text), { value: JSON.parse(text) });
  },

  "a schema becomes the field that fits it": () => {
    const root = { $defs: { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" } } } } };
    const table = [
      [{ type: "string" }, "string"],
      [{ type: "integer" }, "integer"],
      [{ enum: [1, "a"] }, "enum"],
      [{ const: 1, type: "integer" }, "const"],
      [{ type: ["string", "null"] }, "variants"],
      [{ anyOf: [{ type: "string" }] }, "variants"],
      [{ properties: { a: {} } }, "object"],
      [{ type: "object", additionalProperties: { type: "string" } }, "map"],
      [{ type: "object" }, "json"],
      [{ type: "array", items: { type: "string" } }, "array"],
      [{ type: "array", prefixItems: [{}] }, "json"],
      [{ not: {} }, "json"],
      [true, "json"],
      [{ $ref: "#/$defs/Node" }, "object"],
      [{ $ref: "other.json" }, "json"],
      [{ $ref: "#/nowhere" }, "json"],
      [{ allOf: [{ type: "object", properties: { a: {} } }, { properties: { b: {} } }] }, "object"],
    ];
    for (const [schema, kind] of table) assert.equal(data.kindOf(data.resolve(schema, root)), kind, JSON.stringify(schema));
    const loop = { $defs: { A: { $ref: "#/$defs/B" }, B: { $ref: "#/$defs/A" } } };
    assert.deepEqual(data.resolve({ $ref: "#/$defs/A" }, loop), {});
  },

  "a required recursive schema has an end": () => {
    const root = { $defs: { Node: { type: "object", required: ["next"], properties: { next: { $ref: "#/$defs/Node" } } } } };
    assert.ok(JSON.stringify(data.initial({ $ref: "#/$defs/Node" }, root)).length < 200);
  },

  "calls are written so that every reader gets the same values": () => {
    assert.equal(data.shell("it's"), "'it'\\''s'");
    assert.equal(data.python("a.get-file", { q: 'x"y', n: null, on: true, list: [1, { k: false }] }), 'a.get_file(q="x\\"y", n=None, on=True, list=[1, {"k": False}])');
    assert.equal(data.python("a.b", { class: 1, "odd-key": 2, ok: 3 }), 'a.b(ok=3, **{"class": 1, "odd-key": 2})');
    assert.equal(data.flatName("github.issues/get-one"), "github_issues_get-one");
    assert.equal(data.flatName(`pack.${"x".repeat(300)}`).length, 64);
  },

  "secrets are masked by schema and by name": () => {
    const schema = { properties: { a: { format: "password" }, b: { properties: { c: { writeOnly: true } } } } };
    assert.deepEqual(data.masked({ a: "x", b: { c: "y", d: 1 }, api_key: "z" }, schema, schema), { a: "••••••", b: { c: "••••••", d: 1 }, api_key: "••••••" });
  },
};
