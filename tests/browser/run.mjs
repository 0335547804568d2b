// Runs every browser test, or those whose name contains a word: `node tests/browser/run.mjs [word]`.

import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

import { close, launch } from "./harness.mjs";

const folder = dirname(fileURLToPath(import.meta.url));
const word = process.argv[2] ?? "";
let failed = 0;
let passed = 0;

await launch();
for (const file of readdirSync(folder).filter((name) => name.endsWith(".test.mjs")).sort()) {
  const tests = (await import(`./${file}`)).default;
  for (const [name, test] of Object.entries(tests)) {
    if (!`${file} ${name}`.includes(word)) continue;
    try {
      await test();
      passed += 1;
      console.log(`ok   ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}\n${error.stack}\n`);
    }
  }
}
await close();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed || !passed ? 1 : 0;
