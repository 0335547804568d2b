// Real MCP servers behind the gateway: listed, called from code and as loaded tools, killed, and there again.
//
// node servers.mjs ONETOOL PACKAGES PYTHON_PROGRAMS FOLDER

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { allTools, assert, call, connect, eventually, runChecks, use } from "./clients.mjs";

const [onetool, packages, programs, folder] = process.argv.slice(2);
use(packages);

const files = join(folder, "files");
const repository = join(folder, "repository");
mkdirSync(files);
mkdirSync(repository);
writeFileSync(join(files, "note.txt"), "a note\n");
const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
execFileSync("git", ["init", "--quiet", repository]);
execFileSync("git", [...identity, "-C", repository, "commit", "--quiet", "--allow-empty", "--message", "The first commit"]);

const npm = (name) => join(packages, "node_modules/.bin", name);
const person = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };

/** Each server: how it is started, a call as code and as a tool, and what the answer must hold. */
const SERVERS = {
  everything: {
    start: { command: npm("mcp-server-everything") },
    code: "everything.echo(message='héllo')",
    tool: ["everything_get-sum", { a: 20, b: 22 }],
    answers: [/héllo/, /42/],
  },
  filesystem: {
    start: { command: npm("mcp-server-filesystem"), args: [files] },
    code: `filesystem.read_text_file(path='${join(files, "note.txt")}')`,
    tool: ["filesystem_list_directory", { path: files }],
    answers: [/a note/, /\[FILE\] note\.txt/],
  },
  memory: {
    start: { command: npm("mcp-server-memory"), env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } },
    // The graph is in a file: after the server was killed its successor still knows.
    code: `memory.create_entities(entities=[${JSON.stringify(person)}])\nmemory.read_graph()`,
    tool: ["memory_open_nodes", { names: ["Ada"] }],
    answers: [/wrote the first program/, /wrote the first program/],
  },
  time: {
    start: { command: join(programs, "mcp-server-time"), args: ["--local-timezone", "UTC"] },
    code: "time.convert_time(source_timezone='Asia/Tokyo', time='12:00', target_timezone='UTC')",
    tool: ["time_get_current_time", { timezone: "Europe/Berlin" }],
    answers: [/03:00/, /Europe\/Berlin/],
  },
  git: {
    start: { command: join(programs, "mcp-server-git"), args: ["--repository", repository] },
    code: `git.git_log(repo_path='${repository}', max_count=1)`,
    tool: ["git_git_status", { repo_path: repository }],
    answers: [/The first commit/, /working tree clean/],
  },
};

const starts = Object.fromEntries(Object.entries(SERVERS).map(([name, server]) => [name, server.start]));
const config = join(folder, "onetool.yaml");
writeFileSync(config, JSON.stringify({ version: 1, startup_wait: 60, servers: starts }));
const { client: gateway, pid } = await connect(onetool, ["serve", "--config", config]);

/** Returns the tools of a pack that the gateway knows, under the names that the server gave them. */
async function known(pack) {
  const catalog = JSON.parse((await gateway.readResource({ uri: "onetool://tools" })).contents[0].text);
  return catalog.map((tool) => tool.name).filter((name) => name.startsWith(`${pack}.`)).map((name) => name.slice(pack.length + 1));
}

/** Asks the server itself, without the gateway. */
async function direct({ command, args, env }) {
  const { client } = await connect(command, args, env);
  // Once it knows what its client can do, `everything` has more tools.
  const tools = await eventually("its own list", async () => {
    const tools = await allTools(client);
    assert.ok(!command.endsWith("everything") || tools.some((tool) => tool.name === "trigger-sampling-request"));
    return tools;
  });
  await client.close();
  return tools;
}

async function isListed(pack, { start }) {
  const own = await direct(start);
  assert.ok(own.length > 0);
  await eventually("the list of the gateway", async () => {
    assert.deepEqual((await known(pack)).sort(), own.map((tool) => tool.name).sort());
  });
  await call(gateway, "tool_load", { names: own.map((tool) => `${pack}.${tool.name}`) });
  const listed = new Map((await allTools(gateway)).map((tool) => [tool.name, tool]));
  for (const tool of own) {
    const ours = listed.get(`${pack}_${tool.name}`);
    assert.ok(ours, `${tool.name} is loaded and not listed`);
    assert.equal(ours.description, tool.description);
    assert.deepEqual(ours.inputSchema.properties ?? {}, tool.inputSchema.properties ?? {});
    assert.deepEqual(ours.inputSchema.required ?? [], tool.inputSchema.required ?? []);
    assert.deepEqual(hints(ours), hints(tool));
  }
}

/** Returns what a tool says of its effects; a title in there may stand on the tool itself as well. */
function hints({ annotations = {} }) {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => key.endsWith("Hint")));
}

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

async function comesBack(pack, server) {
  const before = processes(server.start.command);
  assert.equal(before.length, 1, `one process of ${pack}: ${before}`);
  process.kill(before[0], "SIGKILL");
  await eventually("a new process", () => {
    const after = processes(server.start.command);
    assert.ok(after.length === 1 && after[0] !== before[0], `${after}`);
  });
  await eventually("calls after the kill", () => isCalled(server));
  assert.ok((await known(pack)).length > 0);
}

const checks = {};
for (const [pack, server] of Object.entries(SERVERS)) {
  checks[`${pack} is listed as it lists itself`] = () => isListed(pack, server);
  checks[`${pack} is called from code and as a loaded tool`] = () => isCalled(server);
  checks[`${pack} is killed and comes back`] = () => comesBack(pack, server);
}

await runChecks({
  ...checks,
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
  "structured content fits its schema": async () => {
    const result = await gateway.callTool({ name: "everything_get-structured-content", arguments: { location: "Chicago" } });
    assert.equal(typeof result.structuredContent.temperature, "number");
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
    const running = Object.values(SERVERS).flatMap(({ start }) => processes(start.command));
    assert.equal(running.length, Object.keys(SERVERS).length);
    await gateway.close();
    await eventually("the end of every server", () => {
      assert.deepEqual(running.filter((id) => existsSync(`/proc/${id}`)), []);
    });
  },
});
