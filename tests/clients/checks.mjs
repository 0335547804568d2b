// Real MCP clients drive the gateway in front of real servers, each over stdio and over HTTP.
//
// node checks.mjs ONETOOL CLIENT_PACKAGES SERVER_PACKAGES FOLDER PYTHON_MCP1 PYTHON_MCP PYTHON_FASTMCP [WORD]
//
// WORD keeps the runs whose name contains it, as in "Inspector" or "HTTP".

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { FORM, ROOT, STATELESS, clients } from "./clients.mjs";

const [onetool, packages, servers, folder, mcp1, mcp, fastmcp, word = ""] = process.argv.slice(2);

/** Three megabytes; Python's `mcp` 2 and FastMCP refuse a server-sent event of more than 1 MiB. */
const LARGE = "A line of a large file, with an é.\n".repeat(88_000);
const large = join(folder, "large.txt");
writeFileSync(large, LARGE);

const program = (name) => join(servers, "node_modules/.bin", name);
const CONFIG = {
  version: 1,
  startup_wait: 60,
  servers: {
    everything: { command: program("mcp-server-everything") },
    filesystem: { command: program("mcp-server-filesystem"), args: [folder] },
  },
  // MCP Inspector refuses to call a tool that is not on the list, and forgets what it has loaded.
  search: { pinned: ["everything.get-tiny-image", "filesystem.read_text_file"] },
  tools: [{ name: "demo.echo", description: "Echoes text.", params: { text: { type: "string" } }, command: ["echo", "{{ text }}"] }],
  resources: [{ uri: "demo://text", name: "text", mime_type: "text/plain", text: "a text from the configuration" }],
  prompts: [{ name: "greet", arguments: [{ name: "name", required: true }], template: "Say hello to {{ name }}." }],
};

/** Thrown by a check that a client cannot take part in. */
class Skip extends Error {}

const listed = async (client) => new Map((await client.request("tools/list", {})).tools.map((tool) => [tool.name, tool]));
const call = (client, name, args = {}) => client.request("tools/call", { name, arguments: args });
const textOf = ({ content }) => content.map((block) => block.text ?? JSON.stringify(block)).join("\n");

/** Calls a tool and returns its text; fails on an error, with its text. */
async function callText(client, name, args) {
  const result = await call(client, name, args);
  if (result.isError) throw new Error(`${name}: ${textOf(result)}`);
  return textOf(result);
}

/** Returns the text of the error that a request must end with, however it is reported. */
async function failure(request) {
  let result;
  try {
    result = await request;
  } catch (error) {
    return error.message;
  }
  assert.ok(result.isError, `not an error: ${JSON.stringify(result)}`);
  return textOf(result);
}

/** Makes checks of tools of `everything` that send the client a request, from the way to call them. */
const answers = (ask) => (tool, args, answer) => async (client, { hasHandlers }) => {
  if (!hasHandlers) throw new Skip("the client has no handlers for requests");
  assert.match(await ask(client, tool, args), answer);
};

const answersTool = answers(async (client, tool, args) => {
  await callText(client, "tool_load", { names: [`everything.${tool}`] });
  return callText(client, `everything_${tool}`, args);
});

const answersCode = answers((client, tool, args) => {
  const pairs = Object.entries(args).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  // Two statements: a single call would not need the interpreter.
  return callText(client, "run", { command: `answer = everything.${tool.replaceAll("-", "_")}(${pairs})\nanswer` });
});

const ELICITATION = ["trigger-elicitation-request", {}, new RegExp(`Name: ${FORM.name}.*Integer: ${FORM.integer}`, "s")];
const SAMPLING = ["trigger-sampling-request", { prompt: "a question", maxTokens: 5 }, /sampled: .*a question/];
const ROOTS = ["get-roots-list", {}, new RegExp(ROOT)];

const isImage = (block) => block.type === "image";

const CHECKS = {
  "lists the tools": async (client) => {
    const tools = await listed(client);
    const pinned = ["everything_get-tiny-image", "filesystem_read_text_file"];
    const wanted = ["run", "tool_find", "tool_describe", "tool_load", "tool_active", "demo_echo", ...pinned];
    assert.deepEqual([...tools.keys()].sort(), wanted.sort());
    const { type, properties } = tools.get("demo_echo").inputSchema;
    assert.equal(type, "object");
    assert.ok("text" in properties);
  },
  "calls a tool": async (client) => {
    const text = "héllo 'quoted' $HOME";
    assert.equal((await callText(client, "demo_echo", { text })).trim(), text);
  },
  "runs code that calls a server": async (client) => {
    const command = "sums = [everything.get_sum(a=n, b=40) for n in (1, 2)]\n' '.join(sums)";
    assert.equal(await callText(client, "run", { command }), "The sum of 1 and 40 is 41. The sum of 2 and 40 is 42.");
  },
  "finds, loads and calls a tool": async (client, { oneShot, revision, overHttp }) => {
    const name = "everything_get-sum";
    assert.match(await callText(client, "tool_find", { query: "sum of two numbers" }), /everything\.get-sum/);
    await callText(client, "tool_load", { names: ["everything.get-sum"] });
    // Without a session the tool is loaded for the access token.
    const isForgotten = oneShot && !(revision === STATELESS && overHttp);
    if (isForgotten) throw new Skip("the session of the client ends with each request");
    const tool = (await listed(client)).get(name);
    assert.deepEqual(Object.keys(tool?.inputSchema.properties ?? {}), ["a", "b"]);
    assert.match(await callText(client, name, { a: 20, b: 22 }), /42/);
  },
  "receives a large result": async (client) => {
    const { content } = await call(client, "filesystem_read_text_file", { path: large });
    // Not assert.equal, which would print both.
    assert.ok(content[0].text === LARGE, `${content[0].text.length} of ${LARGE.length} characters: ${content[0].text.slice(0, 200)}`);
  },
  "receives an image": async (client) => {
    const { content } = await call(client, "everything_get-tiny-image");
    const [{ data, mimeType }] = content.filter(isImage);
    assert.equal(mimeType, "image/png");
    assert.equal(Buffer.from(data, "base64").toString("latin1", 1, 4), "PNG");
  },
  "receives an image from code": async (client) => {
    const { content } = await call(client, "everything_get-tiny-image");
    const ran = await call(client, "run", { command: "image = everything.get_tiny_image()\nimage" });
    assert.deepEqual(ran.content.filter(isImage), content.filter(isImage), textOf(ran).slice(0, 200));
  },
  "answers an elicitation": answersTool(...ELICITATION),
  "answers an elicitation from code": answersCode(...ELICITATION),
  "answers a sampling request": answersTool(...SAMPLING),
  "answers a sampling request from code": answersCode(...SAMPLING),
  // Once only: the server keeps the answer.
  "answers with its roots": answersTool(...ROOTS),
  "reads a resource": async (client) => {
    const { resources } = await client.request("resources/list", {});
    assert.ok(resources.some(({ uri }) => uri === "demo://text"));
    const { contents } = await client.request("resources/read", { uri: "demo://text" });
    assert.equal(contents[0].text.trim(), "a text from the configuration");
    assert.equal(contents[0].mimeType, "text/plain");
  },
  "reads the catalog": async (client) => {
    const { contents } = await client.request("resources/read", { uri: "onetool://tools" });
    assert.match(JSON.parse(contents[0].text).find((tool) => tool.name === "demo.echo").signature, /text/);
  },
  "gets a prompt": async (client) => {
    const { prompts } = await client.request("prompts/list", {});
    assert.ok(prompts.some(({ name }) => name === "greet"));
    const { messages } = await client.request("prompts/get", { name: "greet", arguments: { name: "Ada" } });
    assert.equal(messages[0].role, "user");
    assert.match(messages[0].content.text, /Say hello to Ada\./);
  },
  "is refused an unknown tool": async (client) => {
    assert.match(await failure(call(client, "demo_ecko", { text: "x" })), /demo_ecko/);
  },
  "is refused wrong arguments": async (client) => {
    assert.match(await failure(call(client, "demo_echo", { text: 5 })), /schema.*\/text/);
  },
  "is refused an unknown resource": async (client) => {
    assert.match(await failure(client.request("resources/read", { uri: "demo://nothing" })), /not found/i);
  },
  "is still served after errors": (client, traits) => CHECKS["calls a tool"](client, traits),
};

/** Starts a gateway that listens, and returns what a client needs to reach it. */
async function startHttp(config) {
  const child = spawn(onetool, ["serve", "--http", "127.0.0.1:0", "--config", config], { stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(child, "exit");
  const kill = () => child.kill();
  process.once("exit", kill);
  const log = [];
  for await (const line of createInterface({ input: child.stderr })) {
    log.push(line);
    const url = line.match(/^MCP: (\S+)/)?.[1];
    if (!url) continue;
    // What it logs later must not fill the pipe.
    child.stderr.resume();
    const token = readFileSync(join(config, "../.onetool/token"), "utf8").trim();
    const stop = async () => {
      process.off("exit", kill);
      kill();
      await exited;
    };
    return { server: { url, token }, stop };
  }
  throw new Error(`\`onetool serve --http\` ended before it printed its URL:\n${log.join("\n")}`);
}

const counts = { ok: 0, skip: 0, FAILED: 0 };

async function runCheck(name, check) {
  let verdict = "ok";
  let reason = "";
  try {
    await check();
  } catch (error) {
    verdict = error instanceof Skip ? "skip" : "FAILED";
    // An image or a large file would bury the rest.
    reason = `: ${error.message.slice(0, 500)}`;
  }
  counts[verdict] += 1;
  console.log(`${verdict.padEnd(6)} ${name}${reason}`);
}

/** Runs every check with one client over one transport, against a separate gateway. */
async function drive(name, traits, overHttp) {
  const home = join(folder, name.replaceAll(/\W+/g, "-"));
  const config = join(home, "onetool.yaml");
  mkdirSync(home);
  writeFileSync(config, JSON.stringify(CONFIG));
  const { server, stop } = overHttp ? await startHttp(config) : { server: { command: [onetool, "serve", "--config", config] } };
  let client;
  await runCheck(`${name}: connects with the right revision`, async () => {
    client = await traits.connect(server);
    assert.equal(await client.revision(), traits.revision);
  });
  if (client) {
    for (const [title, check] of Object.entries(CHECKS)) await runCheck(`${name}: ${title}`, () => check(client, { ...traits, overHttp }));
    await client.close();
  }
  await stop?.();
}

const started = Date.now();
for (const [client, traits] of Object.entries(clients(packages, { mcp1, mcp, fastmcp }))) {
  for (const overHttp of [false, true]) {
    const name = `${client}, ${overHttp ? "HTTP" : "stdio"}`;
    if (name.includes(word)) await drive(name, traits, overHttp);
  }
}
console.log(`${counts.ok} passed, ${counts.skip} skipped, ${counts.FAILED} failed in ${Math.round((Date.now() - started) / 1000)} s`);
// The TypeScript 1 client keeps trying to reconnect for seconds after it is closed.
process.exit(counts.FAILED ? 1 : 0);
