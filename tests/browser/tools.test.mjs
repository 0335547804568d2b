// Search, forms, runs, results and the request.

import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { promisify } from "node:util";

import { accessible, ask, assert, clipboard, field, onetool, open, startMount, until, withGateway } from "./harness.mjs";
import { seen } from "./upstream.mjs";

/** Runs a program without stopping this one, which answers for the tools. */
const execute = async (program, args, env = {}) => (await promisify(execFile)(program, args, { env: { ...process.env, ...env } })).stdout;

const TOKEN = "s3cret-of-some-length";

const openTool = async (gateway, name, options) => {
  const opened = await open(`${gateway.url}#/tools/${encodeURIComponent(name)}`, options);
  await opened.page.waitForSelector("main.tool form");
  return opened;
};

/** Sends a message to `/mcp` as a client of the session era does, and returns the answer. */
async function overMcp(url, message, token) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json, text/event-stream" };
  const post = (body, more = {}) => fetch(new URL("mcp", url), { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(body) });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const greeted = await post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  const session = { "mcp-session-id": greeted.headers.get("mcp-session-id"), "mcp-protocol-version": "2025-11-25" };
  await greeted.text();
  await post({ jsonrpc: "2.0", method: "notifications/initialized" }, session);
  const text = await (await post(message, session)).text();
  const data = text.split("\n").filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)));
  return data.find(({ id }) => id === message.id) ?? JSON.parse(text);
}

const verdict = (page) => page.locator(".verdict strong").innerText();

export default {
  "search ranks as the server does, says why, and suggests near names": withGateway({ packs: ["brave", "github", "web"] }, async (gateway) => {
    const { page, check } = await open(gateway.url);
    await page.waitForSelector("a.tool");
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "search");
    await page.keyboard.type("search pictures");
    await page.waitForSelector(".score");
    const { hits } = await ask(gateway.url, "api/v1/search?q=search+pictures&limit=200");
    const shown = await page.locator(".toolname").allInnerTexts();
    assert.deepEqual(shown, hits.map(({ name }) => name));
    assert.match(await page.locator("li", { hasText: "brave.images" }).locator(".why").innerText(), /pictures\s+description/);
    await page.fill("#search", "lst_isues");
    await page.getByRole("link", { name: "github.list_issues" }).click();
    await page.waitForSelector("h1:has-text('github.list_issues')");
    await check();
  }),

  "filters and bulk activation follow what is shown": withGateway({ packs: ["github", "math"] }, async (gateway) => {
    const { page, check } = await open(gateway.url);
    await page.waitForSelector("a.tool");
    await page.getByLabel("Pack", { exact: true }).selectOption("github");
    await page.getByRole("button", { name: "Read-only" }).click();
    assert.deepEqual(await page.locator(".toolname").allInnerTexts(), ["list_issues", "search_code", "get-file"]);
    await page.getByRole("button", { name: "Activate all 3" }).click();
    await page.getByRole("button", { name: "Deactivate all 3" }).waitFor();
    const active = async () => (await ask(gateway.url, "api/v1/tools")).filter((tool) => tool.active && tool.pack === "github").map(({ name }) => name);
    assert.deepEqual(await active(), ["github.list_issues", "github.search_code", "github.get-file"]);
    await page.reload();
    await page.waitForSelector("a.tool .dot");
    await check();
  }),

  "everything can be done by keyboard alone": withGateway({ packs: ["math", "github", "web"] }, async (gateway) => {
    const { page, check } = await open(gateway.url);
    await page.waitForSelector("a.tool");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("add numbers");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForSelector("h1:has-text('math.sum')");
    const press = async (name) => {
      for (let count = 0; count < 60; count += 1) {
        await page.keyboard.press("Tab");
        const label = await page.evaluate(() => document.activeElement.innerText || document.activeElement.getAttribute("aria-label") || "");
        if (label.includes(name)) return page.keyboard.press("Enter");
      }
      throw new Error(`no way to ${name} by keyboard`);
    };
    await press("Add to numbers");
    await page.waitForFunction(() => document.activeElement.id === "field/numbers/0");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("41.5");
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".verdict");
    assert.match(await page.locator(".outcome pre").innerText(), /41\.5/);
    await check();
  }),

  "a nested form with arrays and variants sends what it shows": withGateway({ packs: ["notes"] }, async (gateway) => {
    const { page, check } = await openTool(gateway, "notes.create");
    await field(page, "/title").fill("Release plan");
    await field(page, "/author/name").fill("Ada");
    await field(page, "/author/email").fill("ada@example.org");
    await field(page, "/priority").selectOption({ label: "high" });
    const add = (name) => page.getByRole("button", { name: `Add to ${name}` }).click();
    await add("tags");
    await field(page, "/tags/0").fill("one");
    await add("tags");
    await field(page, "/tags/1").fill("two");
    await page.getByRole("button", { name: "Move tags 2 up" }).click();
    await add("reviewers");
    await field(page, "/reviewers/0/name").fill("Grace");
    await add("attachments");
    await field(page, "/attachments/0/path").fill("/tmp/a");
    await add("attachments");
    await page.getByLabel("Variant of attachments 2").selectOption("Link");
    await field(page, "/attachments/1/url").fill("https://example.org/");
    await page.getByRole("radio", { name: "archived: true" }).check();
    await page.getByRole("button", { name: "Run" }).click();
    await page.waitForSelector(".verdict.good");
    const [call] = await ask(gateway.url, "api/v1/history");
    const record = await ask(gateway.url, `api/v1/history/${call.id}`);
    assert.deepEqual(record.arguments, {
      title: "Release plan",
      author: { name: "Ada", email: "ada@example.org" },
      priority: "high",
      tags: ["two", "one"],
      reviewers: [{ name: "Grace" }],
      attachments: [{ kind: "file", path: "/tmp/a" }, { kind: "link", url: "https://example.org/" }],
      archived: true,
    });
    await check();
  }),

  "maps, nullable values, several types, recursion and odd parts have fields of their own": withGateway({ packs: ["config", "tree"] }, async (gateway) => {
    const { page, check } = await openTool(gateway, "config.patch");
    await page.getByRole("button", { name: "Add labels" }).click();
    await page.locator('[data-path="/labels"]').getByRole("button", { name: "Add key" }).click();
    await page.getByLabel("Key", { exact: true }).fill("team");
    await page.keyboard.press("Tab");
    await field(page, "/labels/team").fill("blue");
    await page.getByLabel("owner is null").check();
    await page.getByLabel("Variant of value").selectOption("number");
    await field(page, "/value-value").fill("2.5");
    await field(page, "/secret").fill("hunter2");
    await field(page, "/odd").fill('{"a": [1]}');
    await page.getByRole("button", { name: "Add base" }).click();
    await field(page, "/base/name").fill("core");
    await field(page, "/base/size").fill("12345678901234567890");
    await page.getByRole("button", { name: "JSON" }).click();
    const text = await page.locator("#json-args").inputValue();
    assert.match(text, /"size": 12345678901234567890/);
    assert.deepEqual({ ...JSON.parse(text), base: undefined }, { labels: { team: "blue" }, owner: null, value: 2.5, secret: "hunter2", odd: { a: [1] }, base: undefined });
    await page.locator("#json-args").fill(text.replace("{", '{"unknown": {"kept": true},'));
    await page.getByRole("button", { name: "Form" }).click();
    await field(page, "/base/name").fill("kernel");
    await page.getByRole("button", { name: "JSON" }).click();
    const edited = await page.locator("#json-args").inputValue();
    assert.match(edited, /"kept": true/);
    assert.match(edited, /12345678901234567890/);
    assert.match(edited, /kernel/);
    await page.locator("#json-args").fill('{\n  "a": oops\n}');
    assert.match(await page.locator(".error").innerText(), /Line 2, column 8/);
    assert.equal(await page.getByRole("button", { name: "Run" }).isDisabled(), true);
    await check();
    const tree = await openTool(gateway, "tree.build");
    await field(tree.page, "/root/name").fill("top");
    await tree.page.getByRole("button", { name: "Add to children" }).click();
    await field(tree.page, "/root/children/0/name").fill("leaf");
    await tree.page.getByRole("button", { name: "Run" }).click();
    await tree.page.waitForSelector(".verdict.good");
    await tree.check();
  }),

  "errors stand at their field and in a summary that leads there": withGateway({ packs: ["notes"] }, async (gateway) => {
    const { page, check } = await openTool(gateway, "notes.create");
    await field(page, "/title").fill("ab");
    await page.getByRole("button", { name: "Add to attachments" }).click();
    await page.getByRole("button", { name: "Validate" }).click();
    await page.waitForSelector(".notice.bad");
    assert.match(await page.locator('[id="field/title-errors"]').innerText(), /shorter/);
    assert.equal(await page.locator('[id="field/author/name-errors"]').innerText(), "Required");
    assert.equal(await page.locator('[id="field/attachments/0/path-errors"]').innerText(), "Required");
    await page.getByRole("button", { name: "/author/name" }).click();
    await page.waitForFunction(() => document.activeElement.id === "field/author/name");
    await accessible(page, "a form with errors");
    await page.getByRole("button", { name: "Run" }).click();
    await page.waitForSelector(".notice.bad");
    assert.equal((await ask(gateway.url, "api/v1/history")).length, 0, "nothing was called");
    await check();
  }),

  "a run is cancelled by its button, and the tool stops": withGateway({ packs: ["slow"] }, async (gateway) => {
    const before = seen.cancelled;
    const { page, check } = await openTool(gateway, "slow.never");
    await page.getByRole("button", { name: "Run" }).click();
    await page.waitForSelector(".running .clock");
    await page.getByRole("button", { name: "Cancel" }).click();
    assert.equal(await verdict(page), "Canceled");
    await until(() => seen.cancelled, (count) => count > before, "the tool was not told");
    await page.getByRole("button", { name: "Run" }).waitFor();
    await check();
  }),

  "every kind of result has a view": withGateway({ packs: ["brave", "media", "fail"] }, async (gateway) => {
    const run = async (name) => {
      const opened = await openTool(gateway, name);
      await opened.page.getByRole("button", { name: "Run" }).click();
      await opened.page.waitForSelector(".verdict");
      return opened;
    };
    const query = encodeURIComponent('{"query":"cats"}');
    const image = await open(`${gateway.url}#/tools/brave.images?args=${query}`);
    await image.page.getByRole("button", { name: "Run" }).click();
    await image.page.waitForFunction(() => document.querySelector("figure img")?.naturalWidth === 96);
    await image.check();
    const sound = await run("media.tone");
    await sound.page.waitForFunction(() => document.querySelector("audio")?.duration > 0);
    await sound.check();
    const documents = await run("media.documents");
    assert.match(await documents.page.locator(".sidebody").innerText(), /file:\/\/\/reports\/2026\.md[\s\S]*All is \*\*well\*\*/);
    await documents.page.getByRole("button", { name: "Raw" }).click();
    assert.match(await documents.page.locator(".outcome pre").innerText(), /"resource_link"/);
    await documents.check();
    const bad = await run("fail.answer");
    assert.equal(await verdict(bad.page), "The tool returned an error");
    assert.match(await bad.page.locator(".verdict").innerText(), /HTTP 500[\s\S]*4bf92f3577b34da6/);
    await bad.check();
    const failed = await run("fail.protocol");
    assert.equal(await verdict(failed.page), "The tool returned an error");
    assert.match(await failed.page.locator(".sidebody").innerText(), /cannot reach the other side/);
    await failed.check();
  }),

  "five megabytes neither stall the page nor are lost": withGateway({ packs: ["big"] }, async (gateway) => {
    const { page, check } = await openTool(gateway, "big.text");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("of text. The first").waitFor();
    assert.ok((await page.locator(".outcome pre").innerText()).length < 60_000);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save all" }).click()]);
    assert.equal(statSync(await download.path()).size, 5_000_000);
    await check();
  }),

  "copied as cURL, Python and MCP JSON, a call is the same call": withGateway({ packs: ["brave"], config: { http: { token: TOKEN } } }, async (gateway) => {
    const args = { query: "it's \"quoted\" \\ $HOME `x` ünï 😀\nline", count: 3, safe: false };
    const { page, check } = await open(`${gateway.url}ui/#token=${TOKEN}&/tools/brave.search?args=${encodeURIComponent(JSON.stringify(args))}`);
    await page.waitForSelector("main.tool form");
    assert.equal(new URL(page.url()).hash.includes(TOKEN), false, "the token left the address");
    await page.getByRole("button", { name: "Request" }).click();
    const copyAs = async (tab, label) => {
      await page.getByRole("button", { name: tab, exact: true }).click();
      await page.getByRole("button", { name: `Copy as ${label}` }).click();
      return clipboard(page);
    };
    const curl = await copyAs("cURL", "cURL");
    assert.match(curl, /\$TOKEN/);
    assert.equal(curl.includes(TOKEN), false);
    const answered = await execute("bash", ["-c", curl.replace(/^curl/, "curl -s")], { TOKEN });
    assert.equal(JSON.parse(answered).structuredContent.query, args.query);
    const python = await copyAs("Python", "Python");
    const recorder = `import json\nclass Pack:\n    def __getattr__(self, name):\n        return lambda **kwargs: print(json.dumps([name, kwargs]))\nbrave = Pack()\n`;
    const [tool, kwargs] = JSON.parse(await execute("python3", ["-c", `${recorder}${python}`]));
    assert.deepEqual([tool, kwargs], ["search", args]);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const ran = await ask(gateway.url, "api/v1/run", { method: "POST", headers, body: JSON.stringify({ command: python }) });
    assert.equal(JSON.parse(ran.content[0].text).query, args.query);
    const mcp = await copyAs("MCP", "MCP JSON");
    const message = await overMcp(gateway.url, JSON.parse(mcp), TOKEN);
    assert.equal(message.result.structuredContent.query, args.query);
    const cli = await copyAs("CLI", "CLI");
    const printed = await execute("bash", ["-c", `onetool() { "$ONETOOL" --config "$CONFIG" "$@"; }\n${cli}`], { ONETOOL: onetool(), CONFIG: gateway.file });
    assert.ok(printed.includes(JSON.stringify(args.query).slice(1, -1)), printed);
    await check();
  }),

  "a deep link fills the form, and the back button goes back": withGateway({ packs: ["math", "web", "files"] }, async (gateway) => {
    const { page, check } = await open(`${gateway.url}#/tools/math.sum?args=${encodeURIComponent('{"numbers":[1,2]}')}`);
    await field(page, "/numbers/1").waitFor();
    assert.equal(await field(page, "/numbers/1").inputValue(), "2");
    await page.locator("a.tool", { hasText: "fetch" }).click();
    await page.waitForSelector("h1:has-text('web.fetch')");
    await field(page, "/url").fill("https://example.org/kept");
    await page.goBack();
    await page.waitForSelector("h1:has-text('math.sum')");
    assert.equal(await field(page, "/numbers/0").inputValue(), "1");
    await page.goForward();
    await page.waitForSelector("h1:has-text('web.fetch')");
    assert.equal(await field(page, "/url").inputValue(), "https://example.org/kept");
    await page.getByRole("button", { name: "Request" }).click();
    await page.getByRole("button", { name: "Copy link" }).click();
    const shared = await open(await clipboard(page));
    await field(shared.page, "/url").waitFor();
    assert.equal(await field(shared.page, "/url").inputValue(), "https://example.org/kept");
    await shared.check();
    const slash = await open(`${gateway.url}#/tools/files.image%2Fresize?args=%7B%22width%22%3A7%7D`);
    await field(slash.page, "/width").waitFor();
    assert.equal(await field(slash.page, "/width").inputValue(), "7");
    await slash.check();
    await check();
  }),

  "a destructive tool asks first": withGateway({ packs: ["notes"] }, async (gateway) => {
    const { page, check } = await open(`${gateway.url}#/tools/notes.delete?args=${encodeURIComponent('{"id":4}')}`);
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("dialog").waitFor();
    await accessible(page, "the question");
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    assert.equal((await ask(gateway.url, "api/v1/history")).length, 0);
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("button", { name: "Run it" }).click();
    await page.getByText("deleted note 4").waitFor();
    await check();
  }),

  "where execution is off, forms and validation stay and the hint names the setting": withGateway({ packs: ["brave"], config: { http: { allow_execute: false } } }, async (gateway) => {
    const { page, check } = await openTool(gateway, "brave.search");
    assert.equal(await page.getByRole("button", { name: "Run", exact: true }).count(), 0);
    assert.match(await page.locator(".off").innerText(), /http\.allow_execute: true in onetool\.yaml/);
    await field(page, "/query").fill("x");
    await page.getByRole("button", { name: "Validate" }).click();
    await page.getByText("✓ Valid").waitFor();
    await accessible(page, "without execution");
    await check();
  }),

  "the library's page works in an application of somebody else, under a prefix": async () => {
    const mount = await startMount();
    try {
      const { page, check } = await open(`${mount.url}#/tools/weather.now?args=${encodeURIComponent('{"city":"Oslo"}')}`);
      await page.getByRole("button", { name: "Run" }).click();
      await page.waitForSelector(".verdict.good");
      assert.match(await page.locator(".outcome pre").innerText(), /sunny in Oslo/);
      await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "History" }).click();
      await page.getByRole("button", { name: /weather\.now/ }).click();
      await page.getByRole("link", { name: "Edit and run again" }).click();
      await field(page, "/city").waitFor();
      await accessible(page, "the library's page");
      await check();
    } finally {
      await mount.stop();
    }
  },
};
