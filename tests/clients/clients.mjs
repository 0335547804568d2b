// Real MCP clients behind one interface: `request(method, params)` returns the result as it was sent.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

/** What every client that can be asked answers: a form that it fills in, and its only root. */
export const FORM = { name: "Ada", integer: 7 };
export const ROOT = "file:///somewhere";

export const HANDSHAKE = "2025-11-25";
export const STATELESS = "2026-07-28";

/** How long a process may run, in milliseconds; the TypeScript clients bound each request by themselves. */
const TIMEOUT = 120_000;

/**
 * Returns the clients: how each connects, and the revision that this must lead to.
 *
 * A client without handlers cannot be asked by a server; a one-shot client opens a connection for each request.
 */
export function clients(packages, pythons) {
  const require = createRequire(join(packages, "package.json"));
  const library = (revision, connect) => ({ revision, connect, hasHandlers: true, oneShot: false });
  const program = (revision, connect) => ({ revision, connect, hasHandlers: false, oneShot: true });
  return {
    "Python mcp 1": library(HANDSHAKE, python(pythons.mcp1, "mcp1")),
    "Python mcp 2, legacy": library(HANDSHAKE, python(pythons.mcp, "mcp2", "legacy")),
    "Python mcp 2, auto": library(STATELESS, python(pythons.mcp, "mcp2", "auto")),
    "FastMCP, legacy": library(HANDSHAKE, python(pythons.fastmcp, "fastmcp", "legacy")),
    "FastMCP, auto": library(STATELESS, python(pythons.fastmcp, "fastmcp", "auto")),
    "TypeScript 1": library(HANDSHAKE, typescript1(require)),
    "TypeScript 2, legacy": library(HANDSHAKE, typescript2(require, "legacy")),
    "TypeScript 2, auto": library(STATELESS, typescript2(require, "auto")),
    "Inspector, legacy": program(HANDSHAKE, inspector(packages, "legacy")),
    "Inspector, modern": program(STATELESS, inspector(packages, "modern")),
  };
}

/** A Python client runs in a separate process, which reads one line per request. */
function python(interpreter, library, mode) {
  return async (server) => {
    const settings = JSON.stringify({ library, mode, form: FORM, root: ROOT, ...server });
    const child = spawn(interpreter, [join(import.meta.dirname, "driver.py"), settings], { timeout: TIMEOUT });
    const exited = once(child, "exit");
    // A write to an exited process fails; reading reports why it exited.
    child.stdin.on("error", () => {});
    const log = text(child.stderr);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const receive = async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the client ended: ${await log}`);
      return JSON.parse(value);
    };
    const revision = await receive();
    return {
      revision: async () => revision,
      async request(method, params) {
        child.stdin.write(`${JSON.stringify({ method, params })}\n`);
        const { result, error } = await receive();
        if (error !== undefined) throw new Error(error);
        return result;
      },
      async close() {
        child.stdin.end();
        await exited;
      },
    };
  };
}

function typescript1(require) {
  const sdk = {
    ...require("@modelcontextprotocol/sdk/client/index.js"),
    ...require("@modelcontextprotocol/sdk/client/stdio.js"),
    ...require("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    ...require("@modelcontextprotocol/sdk/types.js"),
  };
  const schemas = {
    "sampling/createMessage": sdk.CreateMessageRequestSchema,
    "elicitation/create": sdk.ElicitRequestSchema,
    "roots/list": sdk.ListRootsRequestSchema,
  };
  return async (server) => {
    const client = new sdk.Client(INFO, { capabilities: CAPABILITIES });
    for (const [method, handler] of Object.entries(HANDLERS)) client.setRequestHandler(schemas[method], handler);
    const transport = openTransport(sdk, server);
    // The client reports the negotiated revision to its transport only.
    let revision;
    const report = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = (version) => {
      revision = version;
      report?.(version);
    };
    await client.connect(transport);
    return typescript(client, () => revision);
  };
}

function typescript2(require, mode) {
  const sdk = { ...require("@modelcontextprotocol/client"), ...require("@modelcontextprotocol/client/stdio") };
  return async (server) => {
    const client = new sdk.Client(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
    for (const [method, handler] of Object.entries(HANDLERS)) client.setRequestHandler(method, handler);
    await client.connect(openTransport(sdk, server));
    return typescript(client, () => client.getNegotiatedProtocolVersion());
  };
}

const INFO = { name: "onetool-clients", version: "1" };
const CAPABILITIES = { sampling: {}, elicitation: {}, roots: {} };

const HANDLERS = {
  "sampling/createMessage": ({ params }) => ({
    role: "assistant",
    model: "none",
    content: { type: "text", text: `sampled: ${params.messages[0].content.text}` },
  }),
  "elicitation/create": () => ({ action: "accept", content: FORM }),
  "roots/list": () => ({ roots: [{ uri: ROOT }] }),
};

function openTransport(sdk, { url, token, command }) {
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  if (url) return new sdk.StreamableHTTPClientTransport(new URL(url), { requestInit });
  return new sdk.StdioClientTransport({ command: command[0], args: command.slice(1), stderr: "ignore" });
}

function typescript(client, revision) {
  const methods = {
    "tools/list": () => client.listTools(),
    "tools/call": (params) => client.callTool(params),
    "resources/list": () => client.listResources(),
    "resources/read": (params) => client.readResource(params),
    "prompts/list": () => client.listPrompts(),
    "prompts/get": (params) => client.getPrompt(params),
  };
  return {
    revision: async () => revision(),
    request: (method, params) => methods[method](params),
    close: () => client.close(),
  };
}

/** Runs MCP Inspector once for each request; it lists the tools before it calls one. */
function inspector(packages, era) {
  const script = join(packages, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
  return async ({ url, token, command }) => {
    const invoke = async (method, params = {}) => {
      const options = [script, "--cli", "--quiet", "--format", "json", "--protocol-era", era, "--method", method];
      if (method === "tools/call") options.push("--tool-name", params.name, "--tool-args-json", JSON.stringify(params.arguments));
      if (method === "resources/read") options.push("--uri", params.uri);
      if (method === "prompts/get") {
        const pairs = Object.entries(params.arguments).map(([name, value]) => `${name}=${value}`);
        options.push("--prompt-name", params.name, "--prompt-args", ...pairs);
      }
      if (url) options.push("--server-url", url, "--transport", "http", "--header", `Authorization: Bearer ${token}`);
      else options.push("--", ...command);
      const child = spawn(process.execPath, options, { stdio: ["ignore", "pipe", "pipe"], timeout: TIMEOUT });
      const [output, log] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
      // The error of a tool is printed as a result, too, and then reported.
      if (!output) throw new Error(log);
      return JSON.parse(output).result;
    };
    return {
      revision: async () => (await invoke("initialize")).protocolVersion,
      request: invoke,
      close: async () => {},
    };
  };
}
