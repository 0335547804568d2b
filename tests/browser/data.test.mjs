// The part of the page that needs no browser: JSON, schemas, snippets, differences of names.

import { initialValue } from "../../crates/onetool-web/assets/lib/initial-value.js";
import { tryParse } from "../../crates/onetool-web/assets/lib/json.js";
import { kindOf, resolveSchema } from "../../crates/onetool-web/assets/lib/schema.js";
import { masked } from "../../crates/onetool-web/assets/lib/secrets.js";
import { flatName, pythonCall, shellQuote } from "../../crates/onetool-web/assets/lib/snippets.js";
import { assert } from "./harness.mjs";

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
      const { error, ...place } = tryParse(text);
      assert.ok(error, text);
      assert.deepEqual(place, { line, column }, text);
    }
    for (const text of ['{"a": [1, -0.5e3, true, null, "\\u00e9\\n"]}', "[]", ' "x" ']) assert.deepEqual(tryParse(text), { value: JSON.parse(text) });
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
    for (const [schema, kind] of table) assert.equal(kindOf(resolveSchema(schema, root)), kind, JSON.stringify(schema));
    const loop = { $defs: { A: { $ref: "#/$defs/B" }, B: { $ref: "#/$defs/A" } } };
    assert.deepEqual(resolveSchema({ $ref: "#/$defs/A" }, loop), {});
  },

  "a required recursive schema has an end": () => {
    const root = { $defs: { Node: { type: "object", required: ["next"], properties: { next: { $ref: "#/$defs/Node" } } } } };
    assert.ok(JSON.stringify(initialValue({ $ref: "#/$defs/Node" }, root)).length < 200);
  },

  "calls are written so that every reader gets the same values": () => {
    assert.equal(shellQuote("it's"), "'it'\\''s'");
    assert.equal(pythonCall("a.get-file", { q: 'x"y', n: null, on: true, list: [1, { k: false }] }), 'a.get_file(q="x\\"y", n=None, on=True, list=[1, {"k": False}])');
    assert.equal(pythonCall("a.b", { class: 1, "odd-key": 2, ok: 3 }), 'a.b(ok=3, **{"class": 1, "odd-key": 2})');
    assert.equal(flatName("github.issues/get-one"), "github_issues_get-one");
    assert.equal(flatName(`pack.${"x".repeat(300)}`).length, 64);
  },

  "secrets are masked by schema and by name": () => {
    const schema = { properties: { a: { format: "password" }, b: { properties: { c: { writeOnly: true } } } } };
    assert.deepEqual(masked({ a: "x", b: { c: "y", d: 1 }, api_key: "z" }, schema, schema), { a: "••••••", b: { c: "••••••", d: 1 }, api_key: "••••••" });
  },
};
