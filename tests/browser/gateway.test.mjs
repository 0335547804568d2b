// Servers, statistics, stored results, the console and history; what goes wrong; how it looks.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { accessible, ask, assert, field, open, runCode, startGateway, until, withGateway } from "./harness.mjs";
import { seen } from "./upstream.mjs";

const UPSTREAM = join(dirname(fileURLToPath(import.meta.url)), "upstream.mjs");
const FLAG = join(mkdtempSync(join(tmpdir(), "onetool-flag-")), "down");
const TITLE = `"><script>window.__xss=1</script>`;

const SHORTCUTS = {
  aliases: { ws: "brave.search" },
  snippets: {
    research: {
      description: "Search the web.",
      params: { topic: { description: "What to look for", example: "Python" }, count: { default: 3 } },
      body: 'brave.search(query="{{ topic }}", count={{ count }})',
    },
  },
};

/** An API of a thousand operations, as a description. */
function manyOperations() {
  const verbs = ["list", "create", "update", "delete", "search", "export", "import", "merge", "archive", "share"];
  const nouns = ["invoice", "customer", "ticket", "contract", "calendar", "message", "report", "budget", "folder", "product"];
  const paths = {};
  for (let number = 0; number < 1000; number += 1) {
    const [verb, noun] = [verbs[number % 10], nouns[Math.floor(number / 10) % 10]];
    const summary = `Use this to ${verb} a ${noun}, by its number or by a filter over all fields.`;
    const parameters = [{ name: "filter", in: "query", schema: { type: "string" } }];
    paths[`/${noun}/${number}`] = { get: { operationId: `${verb}_${noun}_${number}`, summary, parameters, responses: { 200: { description: "fine" } } } };
  }
  const file = join(mkdtempSync(join(tmpdir(), "onetool-many-")), "suite.json");
  writeFileSync(file, JSON.stringify({ openapi: "3.1.0", info: { title: "Suite", version: "1" }, servers: [{ url: "https://example.org" }], paths }));
  return file;
}

const MANY = { config: { openapi: { suite: { spec: manyOperations() } } } };

const call = (gateway, name, args) => ask(gateway.url, `tools/${name}/call`, { method: "POST", body: JSON.stringify(args) });

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const VIEWS = ["tools", "tools/notes.create", "tools/config.patch", "servers", "servers/github", "run", "results", "history", "stats"];

export default {
  "a server that goes down and comes back is shown live": withGateway({ config: { servers: { github: { command: process.execPath, args: [UPSTREAM, "github", FLAG] } } } }, async (gateway) => {
    const { page, check } = await open(`${gateway.url}#/servers`);
    const github = page.locator('[data-server="github"]');
    await github.getByText("healthy", { exact: true }).waitFor();
    await page.locator(".connection.live").waitFor();
    const log = async () => (await ask(gateway.url, "api/v1/servers/github/log")).lines.join("\n");
    const processes = async () => [...(await log()).matchAll(/process (\d+) listens/g)].map(([, pid]) => Number(pid));
    writeFileSync(FLAG, "");
    process.kill((await processes()).at(-1));
    await github.getByText("unhealthy").waitFor();
    await page.getByRole("link", { name: "1 server down" }).waitFor();
    assert.match(await github.locator(".reason").innerText(), /tried again|reconnect/);
    await accessible(page, "a server that is down");
    rmSync(FLAG);
    await github.getByRole("button", { name: "Reconnect" }).click();
    await github.getByText("healthy", { exact: true }).waitFor();
    await page.waitForFunction(() => !document.querySelector(".alarm"));
    // The log may still end with a process that is gone.
    await until(processes, (pids) => isRunning(pids.at(-1)), "the log does not name the running process");
    const pids = await processes();
    const count = pids.length;
    process.kill(pids.at(-1));
    await until(processes, (pids) => pids.length > count, "it did not come back by itself");
    await github.getByText("healthy", { exact: true }).waitFor();
    await github.getByRole("link", { name: "Log", exact: true }).click();
    await github.getByText("listens on stdio").first().waitFor();
    await github.getByRole("switch").uncheck();
    await github.getByText("off", { exact: true }).waitFor();
    assert.equal((await ask(gateway.url, "api/v1/servers"))[0].enabled, false);
    assert.equal((await ask(gateway.url, "tools")).some(({ name }) => name.startsWith("github.")), false);
    await github.getByRole("switch").check();
    await github.getByText("healthy", { exact: true }).waitFor();
    await check();
  }),

  "statistics count what was called, and say nothing of nothing": withGateway({ packs: ["math", "fail"] }, async (gateway) => {
    const { page, check } = await open(`${gateway.url}#/stats`);
    await page.getByText("Nothing in this period").waitFor();
    assert.deepEqual(await page.locator(".figure").allInnerTexts(), ["0", "–", "–", "–"]);
    await runCode(gateway, "math.sum(numbers=[1])\nmath.sum(numbers=[2])");
    await runCode(gateway, "fail.answer()");
    await page.locator("tbody tr", { hasText: "math.sum" }).waitFor();
    await page.waitForFunction(() => document.querySelector(".figure").innerText === "3");
    assert.equal(await page.locator(".figure").nth(1).innerText(), "66.7 %");
    const names = () => page.locator("tbody th").allInnerTexts();
    assert.deepEqual(await names(), ["math.sum", "fail.answer"]);
    await page.getByRole("button", { name: "Tool" }).click();
    assert.deepEqual(await names(), ["fail.answer", "math.sum"]);
    await page.getByRole("button", { name: "As a table" }).click();
    assert.match(await page.locator("table").first().innerText(), /\d{4}-\d\d-\d\d\s+3\s+1/);
    await check();
  }),

  "a stored result is read in pages, searched, and known when it is gone": withGateway({ packs: ["big"], config: { output: { result_ttl: 1000 } } }, async (gateway) => {
    const { page, check } = await open(`${gateway.url}#/run?code=big.log()`);
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("link", { name: "Read it" }).click();
    await page.locator(".numbered").nth(99).waitFor();
    assert.match(await page.locator(".numbered").first().innerText(), /^1\s*2026-07-28/);
    const tops = await page.locator(".numbered").evaluateAll((lines) => lines.map((line) => line.getBoundingClientRect().top));
    assert.ok(tops.every((top, at) => at === 0 || top > tops[at - 1]), "each line stands on its own");
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("Showing 101–200.").waitFor();
    await page.getByRole("searchbox").fill("ERROR.*request 7\\d\\b");
    await page.getByText("2 of 2,500 lines match").waitFor();
    assert.match(await page.locator("mark").first().innerText(), /^ERROR worker-\d handled request 7\d$/);
    await page.getByRole("searchbox").fill("(");
    await page.getByText("not a valid regular expression").waitFor();
    await page.getByLabel("similar").check();
    await page.getByRole("searchbox").fill("wroker-3");
    await page.getByText(/of 2,500 lines match/).waitFor();
    await accessible(page, "a stored result");
    await page.goto(`${gateway.url}#/results`);
    await page.locator("tbody tr").first().waitFor();
    assert.match(await page.locator("tbody tr").first().innerText(), /text\s+2,500/);
    await page.goto(`${gateway.url}#/results/nope`);
    await page.getByText("result not found").waitFor();
    await check();
  }),

  "the console runs code, expands snippets, and can be cancelled": withGateway({ packs: ["math", "brave", "slow", "big"], config: SHORTCUTS }, async (gateway) => {
    const { page, check } = await open(`${gateway.url}#/run`);
    const code = page.locator("#code");
    await code.fill('# first\nmath.sum(numbers=[1])\nbrave.search(query="rust", count=1)');
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".verdict.good");
    assert.match(await page.locator(".tree").innerText(), /"rust"/);
    await page.getByRole("button", { name: "$research" }).click();
    assert.equal(await code.inputValue(), "$research topic=Python");
    await page.getByRole("button", { name: "Expand" }).click();
    assert.equal(await page.getByLabel("Expansion").locator("pre").innerText(), 'brave.search(query="Python", count=3)');
    await code.fill("brave.search(query=");
    await page.getByRole("button", { name: "Run", exact: false }).first().click();
    await page.getByText(/SyntaxError.*line 1/).waitFor();
    const before = seen.cancelled;
    await code.fill("slow.never()");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Canceled").waitFor();
    await until(() => seen.cancelled, (count) => count > before, "the tool was not told");
    await code.fill("big.log()");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("link", { name: "Read it" }).waitFor();
    await check();
  }),

  "history is listed, replayed, pinned, compared, exported and switched off": withGateway({ packs: ["config", "brave", "math"] }, async (gateway) => {
    await call(gateway, "config.patch", { secret: "hunter2", labels: { a: "1" } });
    await call(gateway, "brave.search", { query: "a", count: 1 });
    await call(gateway, "brave.search", { query: "b", count: 1 });
    const { page, check } = await open(`${gateway.url}#/history`);
    await page.locator(".call").nth(2).waitFor();
    await page.getByRole("button", { name: /config\.patch/ }).click();
    assert.match(await page.locator(".details").innerText(), /"secret": "••••••"/);
    const compare = page.getByRole("checkbox", { name: /Compare/ });
    await compare.nth(0).check();
    await compare.nth(1).check();
    assert.match(await page.locator(".removed").first().innerText(), /"query": "a"/);
    assert.match(await page.locator(".added").first().innerText(), /"query": "b"/);
    await accessible(page, "history");
    await page.locator(".call", { hasText: "config.patch" }).getByRole("button", { name: "Pin" }).click();
    await page.locator(".call").first().getByText("Pinned").waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export JSON" }).click()]);
    const exported = readFileSync(await download.path(), "utf8");
    assert.equal(JSON.parse(exported).length, 3);
    assert.doesNotMatch(exported, /hunter2/);
    await page.getByRole("button", { name: "Clear" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".call").length === 1);
    await page.getByRole("switch", { name: "remember calls" }).uncheck();
    await page.getByText("Calls are not being remembered.").waitFor();
    await call(gateway, "math.sum", { numbers: [1] });
    assert.equal((await ask(gateway.url, "api/v1/history")).length, 1);
    await page.getByRole("button", { name: /config\.patch/ }).click();
    await page.getByRole("link", { name: "Edit and run again" }).click();
    await field(page, "/labels/a").waitFor();
    assert.equal(await field(page, "/secret").inputValue(), "", "a mask is not sent in the place of a secret");
    await check();
  }),

  "a switch in one tab is seen in another": withGateway({ packs: ["math"] }, async (gateway) => {
    const one = await open(`${gateway.url}#/tools/math.sum`);
    const other = await open(`${gateway.url}#/tools/math.sum`);
    await other.page.locator(".connection.live").waitFor();
    await one.page.getByRole("switch").check();
    await other.page.locator('input[role="switch"]:checked').waitFor();
    await one.check();
    await other.check();
  }),

  "hostile names, descriptions, schemas and results stay text": withGateway({ packs: ["hostile"], config: { http: { title: TITLE } } }, async (gateway) => {
    const { page, check } = await open(`${gateway.url}#/tools/hostile.everything`, {});
    await page.waitForSelector("main.tool form");
    assert.match(await page.locator(".notice.bad").innerText(), /are invisible[\s\S]*imitates instructions[\s\S]*credential/);
    await page.getByRole("button", { name: "Run" }).click();
    await page.waitForSelector(".verdict");
    await page.getByRole("button", { name: "Raw" }).click();
    await page.getByRole("button", { name: "Request" }).click();
    for (const tab of ["Python", "MCP", "CLI", "cURL"]) await page.getByRole("button", { name: tab, exact: true }).click();
    await page.getByRole("button", { name: "History" }).click();
    await page.locator(".call button").first().click();
    await page.waitForSelector(".details");
    await page.fill("#search", "script");
    await page.waitForSelector("a.tool");
    const links = await page.locator("a.tool").evaluateAll((anchors) => anchors.map((anchor) => anchor.getAttribute("href")));
    for (const href of links) {
      assert.match(href, /^#\/tools\//);
      await page.evaluate((hash) => { location.hash = hash; }, href);
      await page.waitForSelector("main.tool form");
    }
    assert.equal(await page.evaluate(() => document.querySelectorAll("script:not([src]):not([type='application/json']), iframe, [onerror], [onload]").length), 0);
    assert.equal(await page.evaluate(() => Object.prototype.toString.call({})), "[object Object]");
    await check();
  }),

  "a result that has expired is told from one that never was": withGateway({ packs: ["big"], config: { output: { result_ttl: 1 } } }, async (gateway) => {
    const { content } = await runCode(gateway, "big.log()");
    const { handle } = JSON.parse(content[0].text);
    await until(async () => (await fetch(new URL(`api/v1/results/${handle}`, gateway.url))).status, (status) => status === 410, "it did not expire");
    const { page, check } = await open(`${gateway.url}#/results/${handle}`);
    await page.getByText("result expired").waitFor();
    await check();
  }),

  "a lost connection is told, and mended by itself": async () => {
    const first = await startGateway({ packs: ["math"] });
    const { port } = new URL(first.url);
    const { page, check } = await open(`${first.url}#/tools/math.sum?args=${encodeURIComponent('{"numbers":[1]}')}`);
    await page.locator(".connection.live").waitFor();
    await first.stop();
    await page.getByText("The connection to the server was lost").waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("No response").waitFor();
    const second = await startGateway({ packs: ["math"], port, folder: first.folder });
    await page.locator(".connection.live").waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    await page.waitForSelector(".verdict.good");
    await check();
    await second.stop();
    second.remove();
  },

  "a token is asked for, taken from the address, kept for the tab, and asked for again when it expires": async () => {
    const first = await startGateway({ packs: ["math"], config: { http: { token: "auto" } } });
    const token = new URL(first.link).hash.replace("#token=", "");
    assert.equal(token, readFileSync(join(first.folder, ".onetool/token"), "utf8").trim());
    const { page, check } = await open(first.url);
    await page.getByText("requires an access token").waitFor();
    await accessible(page, "the gate");
    await page.getByLabel("Access token").fill("wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("was not accepted").waitFor();
    await page.getByLabel("Access token").fill(token);
    await page.getByRole("button", { name: "Open" }).click();
    await page.waitForSelector("a.tool");
    await page.reload();
    await page.waitForSelector("a.tool");
    await page.locator(".connection.live").waitFor();
    await first.stop();
    const { port } = new URL(first.url);
    const second = await startGateway({ packs: ["math"], port, folder: first.folder, config: { http: { token: "another-token" } } });
    await page.getByText("was not accepted").waitFor();
    assert.equal(await page.locator("a.tool").count(), 0, "nothing of before is left to see");
    await page.goto(`${second.url}ui/#token=another-token`);
    await page.waitForSelector("a.tool");
    assert.equal(page.url().includes("another"), false);
    await check();
    const printed = await open(first.link);
    await printed.page.getByText("was not accepted").waitFor();
    await printed.check();
    await second.stop();
    second.remove();
  },

  "every view is accessible in light and dark, wide and narrow, under any prefix": withGateway({ packs: ["notes", "config", "github", "big", "brave"], config: SHORTCUTS }, async (gateway) => {
    await runCode(gateway, "big.log()");
    for (const [dark, width] of [[false, 1440], [true, 1440], [false, 320], [true, 800]]) {
      const { page, check } = await open(`${gateway.url}ui`, { dark, width });
      for (const view of VIEWS) {
        await page.goto(`${gateway.url}ui/#/${view}`);
        await page.waitForSelector("#main h1, #main h2");
        await page.waitForFunction(() => !document.querySelector(".loading"));
        await accessible(page, `${view} ${dark ? "dark" : "light"} ${width}`);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${view} is ${overflow} px too wide at ${width}`);
      }
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), dark ? "dark" : "light");
      await page.getByRole("button", { name: "Switch between light and dark" }).click();
      await page.reload();
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), dark ? "light" : "dark");
      await check();
    }
  }),

  "a keystroke among 1,000 tools is drawn at once": withGateway(MANY, async (gateway) => {
    const { page, check } = await open(gateway.url);
    await page.waitForSelector("a.tool");
    assert.equal(await page.locator("a.tool").count(), 200);
    const round = () => page.evaluate(async () => {
      const search = document.getElementById("search");
      search.focus();
      const times = [];
      const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      for (const text of ["u", "up", "upd", "updat", "update", "update i", "update inv", "update", "", "s", "sh", "share"]) {
        const begun = performance.now();
        search.value = text;
        search.dispatchEvent(new Event("input", { bubbles: true }));
        await drawn();
        times.push(performance.now() - begun);
        await new Promise((done) => setTimeout(done, 150));
      }
      return times.sort((left, right) => left - right);
    });
    // The quietest of three rounds: the machine that tests may be busy with something else.
    const rounds = [await round(), await round(), await round()];
    const best = rounds.sort((left, right) => left[6] - right[6])[0];
    console.log(`     keystroke to drawn, 1,000 tools: median ${best[6].toFixed(1)} ms, slowest ${best.at(-1).toFixed(1)} ms (50 ms wanted)`);
    await accessible(page, "1,000 tools");
    await check();
  }),
};
