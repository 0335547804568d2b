// What every browser test needs: the gateway as a process, Chromium, and an eye on what must never happen.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { serve } from "./upstream.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const packages = process.env.ONETOOL_BROWSER_PACKAGES ?? join(homedir(), ".cache/onetool/npm-browser");
const require = createRequire(join(packages, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** How long anything may take before it counts as not happening; the machine may be slow and busy. */
export const PATIENCE_MS = 30_000;

export { assert };

const built = (name) => {
  const target = process.env.CARGO_TARGET_DIR ?? resolve(here, "../../target");
  const program = join(target, "debug", name);
  if (!existsSync(program)) throw new Error(`${program} is not there: run \`cargo xtask browser\`, which builds it`);
  return program;
};

export const onetool = () => built("onetool");

let browser;
let upstream;

/** Starts the browser, and the tools that this process answers for: those of the tests, or others. */
export async function launch(packs) {
  const places = (process.env.PATH ?? "").split(":").map((folder) => join(folder, "chromium"));
  const executablePath = places.find((place) => existsSync(place));
  if (!executablePath) throw new Error("there is no chromium: apt-get install chromium");
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: 4 * PATIENCE_MS });
  upstream = await serve(packs);
}

export async function close() {
  await browser.close();
  upstream.close();
}

/** Starts a program and waits for a line that `pattern` finds in what it says. */
async function start(program, options, pattern, directory) {
  const child = spawn(program, options, { stdio: ["ignore", "pipe", "pipe"], cwd: directory, env: { ...process.env, ONETOOL_LOG: "warn" } });
  const ended = new Promise((done) => child.once("exit", done));
  let said = "";
  const found = await new Promise((done, failed) => {
    const read = (data) => {
      said += data;
      const line = said.match(pattern);
      if (line) done(line);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", failed);
    ended.then((code) => failed(new Error(`${program} ended with ${code}: ${said}`)));
    setTimeout(() => failed(new Error(`${program} did not say where it is: ${said}`)), 4 * PATIENCE_MS).unref();
  });
  const stop = async () => {
    child.kill("SIGTERM");
    // A call that never answers is given ten seconds; the tests need not wait for it.
    setTimeout(() => child.kill("SIGKILL"), 3000).unref();
    await ended;
  };
  return { found, stop };
}

/** The configuration of a server whose tools this process answers for. */
export const over = (pack) => ({ url: `http://127.0.0.1:${upstream.port}/${pack}` });

/**
 * Starts the gateway and returns its address and a way to end it.
 *
 * `packs` are served by this process, `config` is laid over the configuration, `folder` is that of an earlier start.
 */
export async function startGateway({ packs = [], config = {}, port = 0, folder } = {}) {
  const directory = folder ?? mkdtempSync(join(tmpdir(), "onetool-browser-"));
  const { http, servers, ...rest } = config;
  const whole = {
    version: 1,
    startup_wait: 30,
    http: { token: "none", allow_execute: true, ...http },
    servers: { ...Object.fromEntries(packs.map((pack) => [pack, over(pack)])), ...servers },
    ...rest,
  };
  const file = join(directory, "onetool.yaml");
  writeFileSync(file, JSON.stringify(whole));
  const { found, stop } = await start(onetool(), ["--config", file, "serve", "--http", `127.0.0.1:${port}`], /page: (http:\S+\/)ui\/(#\S+)?/, directory);
  const [, url, fragment = ""] = found;
  return { url, link: `${url}ui/${fragment}`, file, folder: directory, stop, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** Starts the example that mounts the library in an application of its own. */
export async function startMount() {
  const { found, stop } = await start(built("examples/mount"), [], /(http:\S+)/);
  return { url: found[1], stop };
}

/** A test with a gateway of its own. */
export const withGateway = (options, test) => async () => {
  const gateway = await startGateway(options);
  try {
    await test(gateway);
  } finally {
    await gateway.stop();
    gateway.remove();
  }
};

/** Statuses of our own API that a test may cause; the browser logs each of them as an error of its own. */
const EXPECTED = /Failed to load resource: (the server responded with a status of (400|401|404|410|500)|net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE|ABORTED))|net::ERR_INCOMPLETE_CHUNKED_ENCODING/;

/** Opens a page and watches it; `check` fails on script errors, policy reports and requests elsewhere. */
export async function open(url, { dark = false, width = 1440, height = 900 } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", acceptDownloads: true });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await context.addInitScript(() => {
    globalThis.__reports = [];
    addEventListener("securitypolicyviolation", (event) => globalThis.__reports.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.setDefaultNavigationTimeout(PATIENCE_MS);
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
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary?.split("\n")[1] ?? ""}`).join(" | ")}`);
  assert.deepEqual(found, [], where);
}

/** Asks until the answer is the wanted one. */
export async function until(question, isWanted, what) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await question();
    if (isWanted(answer)) return answer;
    if (Date.now() > end) throw new Error(`${what}: ${JSON.stringify(answer)}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

export const field = (page, path) => page.locator(`[id="field${path}"]`);
export const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());
export const ask = async (url, path, options = {}) => (await fetch(new URL(path, url), options)).json();
export const runCode = (gateway, command) => ask(gateway.url, "api/v1/run", { method: "POST", body: JSON.stringify({ command }) });
