// Nothing is lost in transit: real servers are called directly and through the gateway, and entire responses are compared.
//
// node transit.mjs ONETOOL PACKAGES FOLDER PYTHON_PROGRAMS…

import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

import { allTools, ask, assert, call, connect, eventually, known, listAll, runChecks, use } from "./clients.mjs";
import { finder, referenceServers } from "./reference.mjs";

const [onetool, packages, folder, ...environments] = process.argv.slice(2);
use(packages);
const program = finder(packages, environments);

/** Replaces every web API, so that nothing depends on the network. */
const api = createServer((_, response) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ success: true, data: { markdown: "# Héllo", metadata: { statusCode: 200 } } }));
});
await once(api.listen(0, "127.0.0.1"), "listening");
const web = `http://127.0.0.1:${api.address().port}`;
/** An address that refuses connections. */
const nowhere = "http://127.0.0.1:1";

const KUBECONFIG = {
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "nowhere", cluster: { server: nowhere } }],
  users: [{ name: "ada", user: { token: "fake" } }],
  contexts: [{ name: "here", context: { cluster: "nowhere", user: "ada" } }],
  "current-context": "here",
};

/** Prepares the folder and returns how each server is started. */
function startServers(folder) {
  const start = (name, args = [], env = {}) => ({ command: program(name), args, env });
  const at = (name) => join(folder, name);
  mkdirSync(folder);
  writeFileSync(at("kubeconfig"), JSON.stringify(KUBECONFIG));
  writeFileSync(at("eslint.config.mjs"), 'export default [{ rules: { "no-unused-vars": "error" } }];');
  writeFileSync(at("unused.js"), "const unused = 1;\n");
  const chromium = ["--headless", "--no-sandbox", "--isolated", "--executable-path", program("chromium")];
  return {
    ...referenceServers(program, folder),
    playwright: start("playwright-mcp", [...chromium, "--output-dir", at("playwright")]),
    notion: start("notion-mcp-server", [], { NOTION_TOKEN: "ntn_fake", BASE_URL: web }),
    // The C# SDK.
    azure: start("azmcp", ["server", "start"], { AZURE_MCP_COLLECT_TELEMETRY: "false" }),
    // The Go SDK.
    kubernetes: start("kubernetes-mcp-server", [], { KUBECONFIG: at("kubeconfig") }),
    // Starts slower than most clients are willing to wait.
    thinking: { command: "sh", args: ["-c", 'sleep 12; exec "$0"', program("mcp-server-sequential-thinking")] },
    context7: start("context7-mcp", [], { CONTEXT7_API_URL: web }),
    tavily: start("tavily-mcp", [], { TAVILY_API_KEY: "fake", HTTPS_PROXY: nowhere }),
    // The binary of @eslint/mcp.
    eslint: start("mcp"),
    figma: start("figma-developer-mcp", ["--stdio", "--proxy", nowhere], { FIGMA_API_KEY: "fake", DO_NOT_TRACK: "1" }),
    // The TypeScript SDK 1.0.1.
    github: start("mcp-server-github", [], { HTTPS_PROXY: nowhere, NODE_USE_ENV_PROXY: "1" }),
    firecrawl: start("firecrawl-mcp", [], { FIRECRAWL_API_KEY: "fc-fake", FIRECRAWL_API_URL: web }),
    fetch: start("mcp-server-fetch", ["--allow-private-ips", "--ignore-robots-txt"]),
    excel: start("excel-mcp-server", ["stdio"]),
    // The Python SDK 1.6, which exits on an unknown request before `initialize`.
    sqlite: start("mcp-server-sqlite", ["--db-path", at("data.sqlite")]),
    calculator: start("mcp-server-calculator"),
    obsidian: start("mcp-obsidian", [], { OBSIDIAN_API_KEY: "fake", OBSIDIAN_PORT: "1" }),
    // FastMCP, which also returns text as structured content, wrapped in an object.
    nixos: start("mcp-nixos"),
  };
}

const ERROR = /"isError":true/;
const STRUCTURED = /"structuredContent":\{/;
const page = "data:text/html;charset=utf-8,<title>A page</title><h1>Héllo</h1>";
const person = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };
const thought = { thought: "a thought", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };

/** The calls of each server, in order, and what the response must match: two equal responses may both be wrong. */
const callsIn = (folder) => ({
  everything: [
    ["echo", { message: "héllo" }, /Echo: héllo/],
    ["get-tiny-image", {}, /"type":"image"/],
    ["get-annotated-message", { messageType: "error", includeImage: true }, /"annotations":\{/],
    ["get-resource-links", { count: 3 }, /"type":"resource_link"/],
    ["get-resource-reference", { resourceType: "Text", resourceId: 1 }, /"type":"resource"/],
    ["get-resource-reference", { resourceType: "Text", resourceId: -1 }, ERROR],
    ["get-structured-content", { location: "Chicago" }, STRUCTURED],
  ],
  filesystem: [
    ["read_text_file", { path: join(folder, "files/note.txt") }, /a note/],
    ["read_text_file", { path: "/etc/passwd" }, ERROR],
  ],
  memory: [
    ["create_entities", { entities: [person] }, STRUCTURED],
    ["open_nodes", { names: ["Ada"] }, STRUCTURED],
  ],
  time: [
    ["convert_time", { source_timezone: "Asia/Tokyo", time: "12:00", target_timezone: "UTC" }, STRUCTURED],
    ["get_current_time", { timezone: "Nowhere" }, ERROR],
  ],
  git: [
    ["git_log", { repo_path: join(folder, "repository") }, /The first commit/],
    ["git_status", { repo_path: "/" }, ERROR],
  ],
  playwright: [
    ["browser_navigate", { url: page }, /A page/],
    ["browser_snapshot", {}, /Héllo/],
    ["browser_take_screenshot", { type: "png" }, /"type":"image"/],
    ["browser_click", { target: "e99" }, ERROR],
    ["browser_close", {}, /page\.close/],
  ],
  notion: [
    ["API-get-self", {}, /Héllo/],
    ["API-post-search", { query: "héllo", page_size: 1 }, /Héllo/],
  ],
  azure: [["get_azure_bestpractices", { intent: "learn", learn: true }, /inputSchema/]],
  kubernetes: [
    ["configuration_view", {}, /current-context: here/],
    ["pods_list", {}, ERROR],
  ],
  thinking: [["sequentialthinking", thought, STRUCTURED]],
  context7: [
    ["resolve-library-id", { query: "q", libraryName: "react" }, /No libraries/],
    ["query-docs", { libraryId: "/a/b", query: "q" }, /Héllo/],
  ],
  tavily: [["tavily_search", { query: "héllo" }, ERROR]],
  eslint: [["lint-files", { filePaths: [join(folder, "unused.js")] }, /no-unused-vars/]],
  figma: [["get_figma_data", { fileKey: "abc" }, ERROR]],
  github: [["get_issue", { owner: "ada", repo: "engine", issue_number: 1 }, /"code":-32603/]],
  firecrawl: [
    ["firecrawl_scrape", { url: "https://example.org" }, STRUCTURED],
    ["firecrawl_scrape", {}, /"code":-32602/],
  ],
  fetch: [
    ["fetch", { url: `${web}/page` }, /Héllo/],
    ["fetch", { url: nowhere }, ERROR],
  ],
  excel: [
    ["create_workbook", { path: join(folder, "book.xlsx") }, STRUCTURED],
    ["write_range", { path: join(folder, "book.xlsx"), sheet: "Sheet1", at: "A1", rows: [["a", 1], ["b", 2]] }, STRUCTURED],
    ["read_range", { path: join(folder, "book.xlsx"), sheet: "Sheet1" }, STRUCTURED],
    ["read_range", { path: join(folder, "book.xlsx"), sheet: "Sheet2" }, ERROR],
  ],
  sqlite: [
    ["create_table", { query: "CREATE TABLE people (name TEXT)" }, /created/],
    ["write_query", { query: "INSERT INTO people VALUES ('Ada')" }, /affected_rows/],
    ["read_query", { query: "SELECT * FROM people" }, /Ada/],
  ],
  calculator: [
    ["calculate", { expression: "6 * 7" }, /42/],
    ["calculate", { expression: "6 *" }, ERROR],
  ],
  obsidian: [["obsidian_list_files_in_vault", {}, ERROR]],
  nixos: [["nix", { action: "search" }, /"structuredContent":\{"result":/]],
});

/** Each side has its own folder, so that its servers do not see the changes of the others. */
const sides = { direct: join(folder, "direct"), through: join(folder, "behind") };
const direct = startServers(sides.direct);
const config = join(folder, "onetool.yaml");
writeFileSync(config, JSON.stringify({ version: 1, startup_wait: 60, servers: startServers(sides.through) }));
const PACKS = Object.keys(direct);

const [{ client: gateway }, ...own] = await Promise.all([
  connect(onetool, ["serve", "--config", config]),
  ...PACKS.map((pack) => connect(direct[pack].command, direct[pack].args, direct[pack].env)),
]);
const clients = Object.fromEntries(PACKS.map((pack, index) => [pack, own[index].client]));

/** Replaces what always differs: the folder and the time. */
function normalize(value, folder) {
  const text = JSON.stringify(value).replaceAll(folder, "FOLDER");
  return JSON.parse(text.replace(/\d{4}-\d\d-\d\dT[\d-]+Z|\d+:\d\d:\d\d\s[AP]M/g, "TIME"));
}

/** Returns the whole result of a call, or its protocol error. */
async function respond(client, name, args) {
  try {
    // A missing `isError` means false.
    return { isError: false, ...(await ask(client, "tools/call", { name, arguments: args })) };
  } catch ({ code, message }) {
    return { error: { code, message: message.replace(`MCP error ${code}: `, "") } };
  }
}

const wrapped = (pack, uri) => `onetool://server/${pack}/${uri}`;

/** Returns a content block as the gateway must send it: a link points back to the gateway, which can read it. */
function blockThrough(pack, block) {
  const isOwn = block.type === "resource_link" && !/^https?:/.test(block.uri);
  return isOwn ? { ...block, uri: wrapped(pack, block.uri) } : block;
}

/** Returns a response as the gateway must send it: unchanged, with a protocol error turned into one that the model sees. */
function responseThrough(pack, name, { error, ...result }) {
  if (error) {
    const text = `tool '${pack}.${name}' failed: ${error.message} (error ${error.code})`;
    return { content: [{ type: "text", text }], isError: true };
  }
  return { ...result, content: result.content.map((block) => blockThrough(pack, block)) };
}

/** Returns a tool as the gateway must list it: renamed, without what some clients reject. */
function toolThrough(pack, tool) {
  const { required, ...schema } = tool.inputSchema;
  const needed = required?.filter((name) => schema.properties[name]?.default === undefined);
  const inputSchema = JSON.parse(JSON.stringify({ ...schema, required: needed }), (key, value) =>
    key === "pattern" && !isPattern(value) ? undefined : value,
  );
  return { ...tool, name: `${pack}_${tool.name}`, inputSchema };
}

/** Returns whether JavaScript accepts a pattern; a property named `pattern` is not one. */
function isPattern(value) {
  try {
    return typeof value !== "string" || Boolean(new RegExp(value, "u"));
  } catch {
    return false;
  }
}

/** What else a server lists: the method, the key of the result, the key of the name, and the name in the gateway. */
const LISTS = [
  ["prompts/list", "prompts", "name", (pack, name) => `${pack}_${name}`],
  ["resources/list", "resources", "uri", wrapped],
  ["resources/templates/list", "resourceTemplates", "uriTemplate", wrapped],
];

/** Lists what a server has; nothing if it does not support the method. */
async function listOwn(pack, method, key) {
  try {
    return await listAll(clients[pack], method, key);
  } catch (error) {
    if (error.code === -32601) return [];
    throw error;
  }
}

/** Spells out the default of a prompt's arguments: they are optional. */
function withDefaults({ arguments: args, ...prompt }) {
  return args ? { ...prompt, arguments: args.map((it) => ({ required: false, ...it })) } : prompt;
}

async function toolsAreListed(pack) {
  const theirs = await eventually(`the tools of ${pack}`, async () => {
    const theirs = await listAll(clients[pack], "tools/list", "tools");
    assert.deepEqual((await known(gateway, pack)).sort(), theirs.map(({ name }) => name).sort());
    return theirs;
  });
  await call(gateway, "tool_load", { names: theirs.map(({ name }) => `${pack}.${name}`) });
  const ours = new Map((await listAll(gateway, "tools/list", "tools")).map((tool) => [tool.name, tool]));
  for (const tool of normalize(theirs, sides.direct)) {
    const expected = toolThrough(pack, tool);
    assert.deepEqual(normalize(ours.get(expected.name) ?? null, sides.through), expected);
  }
}

async function promptsAndResourcesAreListed(pack) {
  for (const [method, key, id, through] of LISTS) {
    const expected = (await listOwn(pack, method, key)).map((it) => ({ ...it, [id]: through(pack, it[id]) }));
    const ids = expected.map((it) => it[id]);
    const ours = (await listAll(gateway, method, key)).filter((it) => ids.includes(it[id]));
    assert.deepEqual(normalize(ours.map(withDefaults), sides.through), normalize(expected.map(withDefaults), sides.direct));
  }
}

/** Reads every resource and gets every prompt without required arguments. */
async function promptsAndResourcesAreRead(pack) {
  for (const { uri } of await listOwn(pack, "resources/list", "resources")) {
    const theirs = await ask(clients[pack], "resources/read", { uri });
    const ours = await ask(gateway, "resources/read", { uri: wrapped(pack, uri) });
    const contents = theirs.contents.map((it) => ({ ...it, uri: wrapped(pack, it.uri) }));
    assert.deepEqual(normalize(ours, sides.through), normalize({ ...theirs, contents }, sides.direct));
  }
  for (const { name, arguments: args = [] } of await listOwn(pack, "prompts/list", "prompts")) {
    if (args.some(({ required }) => required)) continue;
    const theirs = await ask(clients[pack], "prompts/get", { name });
    const ours = await ask(gateway, "prompts/get", { name: `${pack}_${name}` });
    const messages = theirs.messages.map((it) => ({ ...it, content: blockThrough(pack, it.content) }));
    assert.deepEqual(normalize(ours, sides.through), normalize({ ...theirs, messages }, sides.direct));
  }
}

async function isAnswered(pack, index) {
  const [name, args, holds] = callsIn(sides.direct)[pack][index];
  const theirs = await respond(clients[pack], name, args);
  assert.match(JSON.stringify(theirs), holds);
  const ours = await respond(gateway, `${pack}_${name}`, callsIn(sides.through)[pack][index][1]);
  assert.deepEqual(normalize(ours, sides.through), responseThrough(pack, name, normalize(theirs, sides.direct)));
}

const checks = {};
for (const pack of PACKS) {
  checks[`${pack} lists its tools`] = () => toolsAreListed(pack);
  checks[`${pack} lists its prompts and resources`] = () => promptsAndResourcesAreListed(pack);
  checks[`${pack} has its prompts and resources read`] = () => promptsAndResourcesAreRead(pack);
  callsIn(folder)[pack].forEach(([name], index) => {
    checks[`${pack} answers ${name} (${index + 1})`] = () => isAnswered(pack, index);
  });
}

await runChecks({
  ...checks,
  "the client accepts every definition and structured content": async () => {
    await allTools(gateway);
    await call(gateway, "everything_get-structured-content", { location: "Chicago" });
  },
});
await Promise.all([gateway, ...Object.values(clients)].map((client) => client.close()));
api.close();
