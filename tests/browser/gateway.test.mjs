// Servers, statistics, stored results, the console and history; what goes wrong; how it looks.

import { accessible, ask, assert, field, open, startDemo } from "./harness.mjs";

const withDemo = (test, ...options) => async () => {
  const demo = await startDemo(...options);
  try {
    await test(demo);
  } finally {
    await demo.stop();
  }
};

const post = (demo, path, body) => ask(demo.url, path, { method: "POST", body: body && JSON.stringify(body) });
const run = (demo, command) => post(demo, "api/v1/run", { command });

const VIEWS = ["tools", "tools/notes.create", "tools/config.patch", "servers", "servers/github", "run", "results", "history", "stats"];

export default {
  "a server that goes down and comes back is shown live": withDemo(async (demo) => {
    const { page, check } = await open(`${demo.url}#/servers`);
    const github = page.locator('[data-server="github"]');
    await github.getByText("healthy", { exact: true }).waitFor();
    await page.locator(".connection.live").waitFor();
    await post(demo, "demo/servers/github/down");
    await github.getByText("unhealthy").waitFor();
    assert.match(await github.innerText(), /the process ended with status 1[\s\S]*then reconnect/);
    await page.getByRole("link", { name: "1 server down" }).waitFor();
    await accessible(page, "a server that is down");
    await github.getByRole("button", { name: "Reconnect" }).click();
    await github.getByText("healthy", { exact: true }).waitFor();
    await post(demo, "demo/servers/github/down");
    await github.getByText("unhealthy").waitFor();
    await post(demo, "demo/servers/github/up");
    await github.getByText("healthy", { exact: true }).waitFor();
    await github.getByRole("link", { name: "Error output" }).click();
    await github.getByText("[github] listening on stdio").waitFor();
    await github.getByRole("switch").uncheck();
    await github.getByText("off", { exact: true }).waitFor();
    assert.equal((await ask(demo.url, "api/v1/servers"))[0].enabled, false);
    await check();
  }),

  "statistics count what was called, and say nothing of nothing": withDemo(async (demo) => {
    const { page, check } = await open(`${demo.url}#/stats`);
    await page.getByText("Nothing in this period").waitFor();
    assert.deepEqual(await page.locator(".figure").allInnerTexts(), ["0", "–", "–", "–"]);
    await run(demo, "math.sum(numbers=[1])\nmath.sum(numbers=[2])");
    await run(demo, "fail.answer()");
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
  }, "--fresh"),

  "a stored result is read in pages, searched, and known when it is gone": withDemo(async (demo) => {
    const { page, check } = await open(`${demo.url}#/tools/big.stored`);
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("link", { name: "Read it" }).click();
    await page.locator(".numbered").nth(99).waitFor();
    const handle = decodeURIComponent(page.url().split("/").at(-1));
    assert.match(await page.locator(".numbered").first().innerText(), /^1\s*2026-07-28/);
    const tops = await page.locator(".numbered").evaluateAll((lines) => lines.map((line) => line.getBoundingClientRect().top));
    assert.ok(tops.every((top, at) => at === 0 || top > tops[at - 1]), "each line stands on its own");
    await page.getByRole("button", { name: "Later" }).click();
    await page.getByText("Showing 101–200.").waitFor();
    await page.getByRole("searchbox").fill("ERROR.*request 7\\d\\b");
    await page.getByText("2 of 2,500 lines match").waitFor();
    assert.match(await page.locator("mark").first().innerText(), /^ERROR worker-\d handled request 7\d$/);
    await page.getByRole("searchbox").fill("(");
    await page.getByText("no valid regular expression").waitFor();
    await page.getByLabel("similar").check();
    await page.getByRole("searchbox").fill("wroker-3");
    await page.getByText(/of 2,500 lines match/).waitFor();
    await accessible(page, "a stored result");
    await post(demo, `demo/results/${handle}/expire`);
    await page.reload();
    await page.getByText("result expired").waitFor();
    await page.goto(`${demo.url}#/results/nope`);
    await page.getByText("result not found").waitFor();
    await check();
  }, "--fresh"),

  "the console runs code, expands snippets, and can be cancelled": withDemo(async (demo) => {
    const { page, check } = await open(`${demo.url}#/run`);
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
    await page.getByText("SyntaxError: line 1").waitFor();
    await code.fill("slow.never()");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancelled").waitFor();
    for (let cancelled = 0; !cancelled; ) ({ cancelled } = await ask(demo.url, "demo/state"));
    await code.fill("big.stored()");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("link", { name: "Read it" }).waitFor();
    await check();
  }, "--fresh"),

  "history is listed, replayed, pinned, compared, exported and switched off": withDemo(async (demo) => {
    await run(demo, 'config.patch(secret="hunter2", labels={"a": "1"})');
    await run(demo, 'brave.search(query="a", count=1)');
    await run(demo, 'brave.search(query="b", count=1)');
    const { page, check } = await open(`${demo.url}#/history`);
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
    const { readFileSync } = await import("node:fs");
    const exported = readFileSync(await download.path(), "utf8");
    assert.equal(JSON.parse(exported).length, 3);
    assert.doesNotMatch(exported, /hunter2/);
    await page.getByRole("button", { name: "Clear" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".call").length === 1);
    await page.getByRole("switch", { name: "remember calls" }).uncheck();
    await page.getByText("Calls are not remembered now.").waitFor();
    await run(demo, "math.sum(numbers=[1])");
    assert.equal((await ask(demo.url, "api/v1/history")).length, 1);
    await page.getByRole("button", { name: /config\.patch/ }).click();
    await page.getByRole("link", { name: "Edit and run again" }).click();
    await field(page, "/labels/a").waitFor();
    assert.equal(await field(page, "/secret").inputValue(), "", "a mask is not sent in the place of a secret");
    await check();
  }, "--fresh"),

  "a switch in one tab is seen in another": withDemo(async (demo) => {
    const one = await open(`${demo.url}#/tools/math.sum`);
    const other = await open(`${demo.url}#/tools/math.sum`);
    await other.page.locator(".connection.live").waitFor();
    await one.page.getByRole("switch").check();
    await other.page.locator('input[role="switch"]:checked').waitFor();
    await one.check();
    await other.check();
  }),

  "hostile names, descriptions, schemas and results stay text": withDemo(async (demo) => {
    const { page, check } = await open(`${demo.url}#/tools/hostile.everything`, {});
    await page.waitForSelector("main.tool form");
    assert.match(await page.locator(".notice.bad").innerText(), /invisible characters[\s\S]*orders to the model/);
    await page.getByRole("button", { name: "Run" }).click();
    await page.waitForSelector(".verdict");
    await page.getByRole("button", { name: "Raw" }).click();
    await page.getByRole("button", { name: "Request" }).click();
    for (const tab of ["Python", "MCP", "CLI", "cURL"]) await page.getByRole("button", { name: tab, exact: true }).click();
    await page.getByRole("button", { name: "History" }).click();
    await page.locator(".call button").first().click();
    await page.waitForSelector(".details");
    await page.fill("#search", "script");
    await page.waitForSelector(".score");
    const links = await page.locator("a.tool").evaluateAll((anchors) => anchors.map((anchor) => anchor.getAttribute("href")));
    for (const href of links) {
      assert.match(href, /^#\/tools\//);
      await page.evaluate((hash) => { location.hash = hash; }, href);
      await page.waitForSelector("main.tool form");
    }
    assert.equal(await page.evaluate(() => document.querySelectorAll("script:not([src]):not([type='application/json']), iframe, [onerror], [onload]").length), 0);
    assert.equal(await page.evaluate(() => Object.prototype.toString.call({})), "[object Object]");
    await check();
  }, "--title", '"><script>window.__xss=1</script>', "--fresh"),

  "a lost connection is told, and mended by itself": async () => {
    const first = await startDemo("--fresh");
    const port = new URL(first.url).port;
    const { page, check } = await open(`${first.url}#/tools/math.sum?args=${encodeURIComponent('{"numbers":[1]}')}`);
    await page.locator(".connection.live").waitFor();
    await first.stop();
    await page.getByText("The connection to the server is lost").waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("No answer").waitFor();
    const second = await startDemo("--fresh", "--port", port);
    await page.locator(".connection.live").waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    await page.waitForSelector(".verdict.good");
    await check();
    await second.stop();
  },

  "a token is asked for, taken from the address, kept for the tab, and asked for again when it expires": withDemo(async (demo) => {
    const { page, check } = await open(demo.url);
    await page.getByText("asks for an access token").waitFor();
    await accessible(page, "the gate");
    await page.getByLabel("Access token").fill("wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("was not accepted").waitFor();
    await page.getByLabel("Access token").fill("s3cret");
    await page.getByRole("button", { name: "Open" }).click();
    await page.waitForSelector("a.tool");
    await page.reload();
    await page.waitForSelector("a.tool");
    await page.locator(".connection.live").waitFor();
    await ask(demo.url, "demo/token/new", { method: "POST" });
    await page.locator("a.tool").first().click();
    await page.getByText("was not accepted").waitFor();
    assert.equal(await page.locator("a.tool").count(), 0, "nothing of before is left to see");
    await page.goto(`${demo.url}#token=new`);
    await page.reload();
    await page.waitForSelector("a.tool");
    assert.equal(page.url().includes("new"), false);
    await check();
  }, "--token", "s3cret"),

  "every view is accessible in light and dark, wide and narrow, under any prefix": withDemo(async (demo) => {
    await run(demo, "big.stored()");
    for (const [dark, width] of [[false, 1440], [true, 1440], [false, 320], [true, 800]]) {
      const { page, check } = await open(`${demo.url}ui`, { dark, width });
      for (const view of VIEWS) {
        await page.goto(`${demo.url}ui/#/${view}`);
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

  "a keystroke among 1,000 tools is drawn within 50 ms": withDemo(async (demo) => {
    const { page, check } = await open(demo.url);
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
    console.log(`     keystroke to drawn, 1,000 tools: median ${best[6].toFixed(1)} ms, slowest ${best.at(-1).toFixed(1)} ms`);
    assert.ok(best[6] < 50, `median ${best[6]} ms`);
    await accessible(page, "1,000 tools");
    await check();
  }, "--many", "1000"),
};
