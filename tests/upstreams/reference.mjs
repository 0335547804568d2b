// The reference servers of MCP, and the files they work on.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

// The scripts from npm look up `node` in PATH, which may be older than this one.
process.env.PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);

/** Returns a function that finds a program among the npm packages, in the Python environments or in PATH. */
export function finder(packages, environments) {
  const folders = [join(packages, "node_modules/.bin"), ...environments, ...process.env.PATH.split(delimiter)];
  return (name) => {
    const path = folders.map((folder) => join(folder, name)).find(existsSync);
    if (!path) throw new Error(`${name} is not installed`);
    return path;
  };
}

/** Prepares the folder and returns how each server is started. */
export function referenceServers(program, folder) {
  const files = join(folder, "files");
  const repository = join(folder, "repository");
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, "note.txt"), "a note\n");
  execFileSync("git", ["init", "--quiet", "--initial-branch=main", repository]);
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  execFileSync("git", [...identity, "-C", repository, "commit", "--quiet", "--allow-empty", "--message", "The first commit"], {
    // Gives the commit the same id every time.
    env: { ...process.env, GIT_AUTHOR_DATE: "@0 +0000", GIT_COMMITTER_DATE: "@0 +0000" },
  });
  return {
    everything: { command: program("mcp-server-everything") },
    filesystem: { command: program("mcp-server-filesystem"), args: [files] },
    memory: { command: program("mcp-server-memory"), env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } },
    time: { command: program("mcp-server-time"), args: ["--local-timezone", "UTC"] },
    git: { command: program("mcp-server-git"), args: ["--repository", repository] },
  };
}
