// Real MCP servers behind the gateway: called from code and as loaded tools, killed, and there again.
//
// node servers.mjs ONETOOL PACKAGES FOLDER PYTHON_PROGRAMS…

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { assert, call, connect, eventually, known, runChecks, use } from "./clients.mjs";
import { finder, referenceServers } from "./reference.mjs";

const [onetool, packages, folder, ...environments] = process.argv.slice(2);
use(packages);

const starts = referenceServers(finder(packages, environments), folder);
const files = join(folder, "files");
const repository = join(folder, "repository");
const person = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };

/** Each server: a call as code and as a tool, and what the answer must hold. */
const SERVERS = {
  everything: {
    code: "everything.echo(message='héllo')",
    tool: ["everything_get-sum", { a: 20, b: 22 }],
    answers: [/héllo/, /42/],
  },
  filesystem: {
    code: `filesystem.read_text_file(path='${join(files, "note.txt")}')`,
    tool: ["filesystem_list_directory", { path: files }],
    answers: [/a note/, /\[FILE\] note\.txt/],
  },
  memory: {
    // The graph is in a file: after the server was killed its successor still knows.
    code: `memory.create_entities(entities=[${JSON.stringify(person)}])\nmemory.read_graph()`,
    tool: ["memory_open_nodes", { names: ["Ada"] }],
    answers: [/wrote the first program/, /wrote the first program/],
  },
  time: {
    code: "time.convert_time(source_timezone='Asia/Tokyo', time='12:00', target_timezone='UTC')",
    tool: ["time_get_current_time", { timezone: "Europe/Berlin" }],
    answers: [/03:00/, /Europe\/Berlin/],
  },
  git: {
    code: `git.git_log(repo_path='${repository}', max_count=1)`,
    tool: ["git_git_status", { repo_path: repository }],
    answers: [/The first commit/, /working tree clean/],
  },
};

/** Returns a port that nobody listens on. */
async function freePort() {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address();
  await once(server.close(), "close");
  return port;
}

// A server with only the HTTP transport of 2024-11-05.
const port = await freePort();
const old = spawn(starts.everything.command, ["sse"], { env: { ...process.env, PORT: port }, stdio: "ignore" });
// It ends with this process, and does not keep it running.
old.unref();
process.once("exit", () => old.kill());

const config = join(folder, "onetool.yaml");
const servers = { ...starts, old: { url: `http://127.0.0.1:${port}/sse` } };
writeFileSync(config, JSON.stringify({ version: 1, startup_wait: 60, servers }));
const { client: gateway, pid } = await connect(onetool, ["serve", "--config", config]);

async function isCalled({ code, tool: [name, args], answers: [ofCode, ofTool] }) {
  assert.match(await call(gateway, "run", { command: code }), ofCode);
  assert.match(await call(gateway, name, args), ofTool);
}

/** Returns the processes under the gateway that run a server: neither the gateway's guards nor its interpreter. */
function processes(command) {
  const parents = new Map();
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${id}/stat`, "utf8");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (state !== "Z") parents.set(Number(id), Number(parent));
    } catch { /* it has ended meanwhile */ }
  }
  const isBelow = (id) => id !== undefined && (id === pid || isBelow(parents.get(id)));
  return [...parents.keys()].filter((id) => {
    try {
      const runs = readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0").includes(command);
      return runs && isBelow(parents.get(id)) && !readlinkSync(`/proc/${id}/exe`).endsWith("/onetool");
    } catch {
      return false;
    }
  });
}

async function comesBack(pack) {
  const { command } = starts[pack];
  const before = processes(command);
  assert.equal(before.length, 1, `one process of ${pack}: ${before}`);
  process.kill(before[0], "SIGKILL");
  await eventually("a new process", () => {
    const after = processes(command);
    assert.ok(after.length === 1 && after[0] !== before[0], `${after}`);
  });
  await eventually("calls after the kill", () => isCalled(SERVERS[pack]));
  assert.ok((await known(gateway, pack)).length > 0);
}

const checks = {};
for (const [pack, server] of Object.entries(SERVERS)) {
  checks[`${pack} is called from code and as a loaded tool`] = () => isCalled(server);
  checks[`${pack} is killed and comes back`] = () => comesBack(pack);
}

await runChecks({
  "tools are loaded": async () => {
    const asked = ["long-running-operation", "sampling-request", "elicitation-request"].map((name) => `everything_trigger-${name}`);
    const names = [...asked, "everything_get-roots-list", ...Object.values(SERVERS).map(({ tool: [name] }) => name)];
    // Once it knows what its client can do, `everything` has more tools.
    await eventually("all of them", () => call(gateway, "tool_load", { names }));
  },
  ...checks,
  "a server with only the HTTP+SSE transport is called": () =>
    eventually("a connection", async () => assert.match(await call(gateway, "run", { command: "old.get_sum(a=20, b=22)" }), /42/)),
  "the client is told of progress": async () => {
    const seen = [];
    const onprogress = ({ progress }) => seen.push(progress);
    await call(gateway, "everything_trigger-long-running-operation", { duration: 0.2, steps: 4 }, { onprogress });
    assert.deepEqual(seen, [1, 2, 3, 4]);
  },
  "the client is asked to sample": async () => {
    const text = await call(gateway, "everything_trigger-sampling-request", { prompt: "a question", maxTokens: 5 });
    assert.match(text, /sampled: .*a question/s);
  },
  "the client is asked for its roots": async () => {
    assert.match(await call(gateway, "everything_get-roots-list", {}), /somewhere/);
  },
  "the client is asked by an elicitation": async () => {
    assert.match(await call(gateway, "everything_trigger-elicitation-request", {}), /declined/i);
  },
  "the client is asked to open an address, in the middle of a call and by an error": async () => {
    const args = { url: "https://example.org/sign-in", message: "Sign in.", elicitationId: "e-1" };
    await call(gateway, "tool_load", { names: ["everything.trigger-url-elicitation"] });
    assert.match(await call(gateway, "everything_trigger-url-elicitation", args), /declined to open the URL \(Elicitation ID: e-1\)/);
    const refused = await call(gateway, "everything_trigger-url-elicitation", { ...args, errorPath: true }).catch((error) => error);
    assert.equal(refused.code, -32042);
    assert.equal(refused.data.elicitations[0].url, "https://modelcontextprotocol.io");
  },
  "prompts are got and completed": async () => {
    const got = await gateway.getPrompt({ name: "everything_args-prompt", arguments: { city: "Paris" } });
    assert.match(got.messages[0].content.text, /Paris/);
    const ref = { type: "ref/prompt", name: "everything_completable-prompt" };
    const { completion } = await gateway.complete({ ref, argument: { name: "department", value: "E" } });
    assert.deepEqual(completion.values, ["Engineering"]);
  },
  "resources and templates are read": async () => {
    const prefix = "onetool://server/everything/";
    const { resources } = await gateway.listResources();
    const first = resources.find((it) => it.uri.startsWith(`${prefix}demo://resource/static/`));
    assert.ok((await gateway.readResource({ uri: first.uri })).contents[0].text.length > 0);
    const made = await gateway.readResource({ uri: `${prefix}demo://resource/dynamic/text/1` });
    assert.match(made.contents[0].text, /Resource 1/);
    const graph = await gateway.readResource({ uri: "onetool://server/memory/memory://knowledge-graph" });
    assert.match(graph.contents[0].text, /Ada/);
  },
  "no process is left behind": async () => {
    const running = Object.values(starts).flatMap(({ command }) => processes(command));
    assert.equal(running.length, Object.keys(starts).length);
    await gateway.close();
    await eventually("the end of every server", () => {
      assert.deepEqual(running.filter((id) => existsSync(`/proc/${id}`)), []);
    });
  },
});
