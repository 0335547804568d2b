// The official TypeScript client, and what every check here needs.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

export { assert };

/** How long anything may take on a slow, busy machine. */
export const PATIENCE = 60_000;

let sdk;

/** Loads the client from the folder that `cargo xtask install` made. */
export function use(packages) {
  const require = createRequire(join(packages, "package.json"));
  sdk = {
    ...require("@modelcontextprotocol/sdk/client/index.js"),
    ...require("@modelcontextprotocol/sdk/client/stdio.js"),
    ...require("@modelcontextprotocol/sdk/types.js"),
  };
}

/** Starts a server over stdio and connects to it as a client that can be asked everything. */
export async function connect(command, args = [], env = {}) {
  const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };
  const client = new sdk.Client({ name: "onetool-upstreams", version: "1" }, { capabilities });
  client.setRequestHandler(sdk.CreateMessageRequestSchema, ({ params }) => ({
    role: "assistant",
    model: "none",
    content: { type: "text", text: `sampled: ${JSON.stringify(params.messages)}` },
  }));
  client.setRequestHandler(sdk.ElicitRequestSchema, () => ({ action: "decline" }));
  client.setRequestHandler(sdk.ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///somewhere", name: "somewhere" }] }));
  const own = { PATH: process.env.PATH, HOME: process.env.HOME, ...env };
  const transport = new sdk.StdioClientTransport({ command, args, env: own, stderr: "ignore" });
  await client.connect(transport, { timeout: PATIENCE });
  return { client, pid: transport.pid };
}

/** Returns all tools, page by page; the client refuses a list with a definition that it cannot use. */
export async function allTools(client) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools({ cursor }, { timeout: PATIENCE });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor);
  return tools;
}

/** Sends a request and returns the raw result; the types of the client would drop unknown keys. */
export function ask(client, method, params = {}) {
  return client.request({ method, params }, sdk.ResultSchema, { timeout: PATIENCE });
}

/** Returns a raw list, page by page. */
export async function listAll(client, method, key) {
  const all = [];
  let cursor;
  do {
    const page = await ask(client, method, { cursor });
    all.push(...page[key]);
    cursor = page.nextCursor;
  } while (cursor);
  return all;
}

/** Returns the tools of a pack that the gateway knows, under the names that the server gave them. */
export async function known(gateway, pack) {
  const catalog = JSON.parse((await gateway.readResource({ uri: "onetool://tools" })).contents[0].text);
  return catalog.map((tool) => tool.name).filter((name) => name.startsWith(`${pack}.`)).map((name) => name.slice(pack.length + 1));
}

/** Calls a tool and returns its text; fails on an error, with what it said. */
export async function call(client, name, args, options = {}) {
  const result = await client.callTool({ name, arguments: args }, undefined, { timeout: PATIENCE, ...options });
  const text = result.content.map((block) => block.text ?? JSON.stringify(block)).join("\n");
  if (result.isError) throw new Error(`${name}: ${text}`);
  return text;
}

/** Tries again until it works, or for a minute. */
export async function eventually(what, attempt) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw new Error(`${what}: ${error.message}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Runs named checks one after another and sets the exit code. */
export async function runChecks(checks) {
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
      console.log(`ok     ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${name}: ${error.stack}`);
    }
  }
  console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}
