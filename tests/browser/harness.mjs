// What every browser test needs: the demo as a process, Chromium, and an eye on what must never happen.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const packages = process.env.ONETOOL_BROWSER_PACKAGES ?? join(homedir(), ".cache/onetool/npm-browser");
const require = createRequire(join(packages, "package.json"));
const { chromium } = require("playwright-core");
const axe = require.resolve("axe-core/axe.min.js");

export { assert };

const program = () => {
  const target = process.env.CARGO_TARGET_DIR ?? resolve(here, "../../target");
  const demo = join(target, "debug/examples/demo");
  if (!existsSync(demo)) throw new Error(`${demo} is not there: run \`cargo build -p onetool-web --example demo\``);
  return demo;
};

let browser;

export async function launch() {
  const executablePath = process.env.ONETOOL_CHROMIUM ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

export const close = () => browser.close();

/** Starts the demo and returns its address and a way to end it. */
export async function startDemo(...options) {
  const child = spawn(program(), options, { stdio: ["ignore", "pipe", "ignore"] });
  const line = await new Promise((found, failed) => {
    child.stdout.once("data", (data) => found(String(data).trim()));
    child.once("exit", (code) => failed(new Error(`the demo ended with ${code}`)));
  });
  const [url] = line.split("#");
  return { url, link: line, stop: () => new Promise((ended) => { child.once("exit", ended); child.kill(); }) };
}

/** Statuses of our own API that a test may cause; the browser logs each of them as an error of its own. */
const EXPECTED = /Failed to load resource: (the server responded with a status of (400|401|404|410|500)|net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE))|net::ERR_INCOMPLETE_CHUNKED_ENCODING/;

/** Opens a page and watches it; `check` fails on script errors, policy reports and requests elsewhere. */
export async function open(url, { dark = false, width = 1440, height = 900 } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", acceptDownloads: true });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await context.addInitScript(() => {
    globalThis.__reports = [];
    addEventListener("securitypolicyviolation", (event) => globalThis.__reports.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const problems = [];
  page.on("pageerror", (error) => problems.push(`script: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !EXPECTED.test(message.text())) problems.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const target = new URL(request.url());
    if (!["data:", "blob:"].includes(target.protocol) && target.origin !== new URL(url).origin) problems.push(`request to ${request.url()}`);
  });
  await page.goto(url);
  const check = async () => {
    problems.push(...(await page.evaluate(() => globalThis.__reports)).map((report) => `policy: ${report}`));
    assert.deepEqual(problems, []);
    assert.equal(await page.evaluate(() => globalThis.__xss), undefined, "a string became code");
    await context.close();
  };
  return { page, context, check };
}

/** Fails with every accessibility fault that axe finds. */
export async function accessible(page, where) {
  // axe brings itself in through the debugger, as the policy lets no page do.
  const source = await import("node:fs").then(({ readFileSync }) => readFileSync(axe, "utf8"));
  await page.evaluate(source);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary?.split("\n")[1] ?? ""}`).join(" | ")}`);
  assert.deepEqual(found, [], where);
}

export const field = (page, path) => page.locator(`[id="field${path}"]`);
export const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());
export const ask = async (url, path, options = {}) => (await fetch(new URL(path, url), options)).json();
