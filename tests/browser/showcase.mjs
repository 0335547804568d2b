// The tools of an imaginary team, for pictures: named and described as such tools are, with answers that make sense.

const object = (properties, required = []) => ({ type: "object", properties, required, additionalProperties: false });
const data = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value });
const text = (value) => ({ content: [{ type: "text", text: value }] });
const reads = { readOnlyHint: true, openWorldHint: true };
const adds = { readOnlyHint: false, destructiveHint: false };
const limit = { type: "integer", minimum: 1, maximum: 50, default: 10, description: "How many at most." };

const ISSUES = [
  { id: "WEB-482", title: "Login loops back when the session cookie is older than a day", state: "In Progress", priority: "urgent", assignee: "Ines", updated: "2026-11-13" },
  { id: "API-119", title: "Refresh token is refused after a password change", state: "Todo", priority: "high", assignee: "Tomasz", updated: "2026-11-12" },
  { id: "WEB-467", title: "“Remember me” is ignored in Safari", state: "In Review", priority: "normal", assignee: "Aiko", updated: "2026-11-10" },
];

const ROWS = [
  { country: "Germany", orders: 1284, revenue: 96210.4 },
  { country: "France", orders: 1107, revenue: 81922.15 },
  { country: "Japan", orders: 934, revenue: 78450 },
  { country: "Brazil", orders: 611, revenue: 40118.9 },
];

export const PACKS = {
  linear: {
    search_issues: ["Search issues by words, state and person; the most relevant first.", object({
      query: { type: "string", minLength: 1, description: "Words in title, description or comments." },
      state: { enum: ["Todo", "In Progress", "In Review", "Done"], description: "Only issues in this state." },
      assignee: { type: "string", description: "Only issues of this person." },
      limit,
    }, ["query"]), reads, ({ query }) => data({ query, issues: ISSUES, total: 3 })],
    create_issue: ["Open an issue, with labels, people who want to know, and links to what it is about.", {
      type: "object",
      required: ["team", "title"],
      additionalProperties: false,
      properties: {
        team: { enum: ["WEB", "API", "OPS"], description: "The team that looks after it." },
        title: { type: "string", minLength: 5, maxLength: 120, description: "One line." },
        description: { type: "string", description: "What happens, and what should happen, in Markdown." },
        priority: { enum: ["urgent", "high", "normal", "low"], default: "normal" },
        labels: { type: "array", items: { type: "string" }, description: "Any number of them." },
        due: { type: "string", format: "date", description: "When it has to be done." },
        watchers: { type: "array", items: { $ref: "#/$defs/Person" }, description: "Who is told about changes." },
        links: { type: "array", items: { oneOf: [
          { title: "Pull request", type: "object", required: ["kind", "number"], properties: { kind: { const: "pull" }, number: { type: "integer", minimum: 1 } } },
          { title: "Page", type: "object", required: ["kind", "url"], properties: { kind: { const: "page" }, url: { type: "string", format: "uri" } } },
        ] } },
      },
      $defs: { Person: { type: "object", required: ["name"], properties: { name: { type: "string" }, email: { type: "string", format: "email" } } } },
    }, adds, () => data({ id: "WEB-483", url: "https://linear.example/WEB-483" })],
    add_comment: ["Comment on an issue.", object({ issue: { type: "string" }, body: { type: "string" } }, ["issue", "body"]), adds, () => text("done")],
    close_issue: ["Close an issue as done or as not wanted.", object({ issue: { type: "string" } }, ["issue"]), { destructiveHint: false, idempotentHint: true }, () => text("closed")],
  },
  postgres: {
    query: ["Run a read-only SQL query against the warehouse.", object({
      sql: { type: "string", description: "One SELECT statement." },
      limit,
    }, ["sql"]), reads, () => data({ columns: ["country", "orders", "revenue"], rows: ROWS })],
    list_tables: ["List the tables with their columns and sizes.", object({ schema: { type: "string", default: "public" } }), reads, () => data({ tables: ["orders", "customers", "refunds"] })],
    drop_table: ["Delete a table and everything in it.", object({ table: { type: "string" } }, ["table"]), { destructiveHint: true }, () => text("gone")],
  },
  slack: {
    search_messages: ["Search messages in every channel that the bot can read.", object({ query: { type: "string" }, channel: { type: "string" }, limit }, ["query"]), reads, () => data({ messages: [] })],
    post_message: ["Post a message to a channel.", object({ channel: { type: "string" }, text: { type: "string", maxLength: 4000 } }, ["channel", "text"]), adds, ({ channel }) => data({ ok: true, channel, ts: "1794711600.000200" })],
  },
};

export const SHORTCUTS = {
  aliases: { issues: "linear.search_issues", sql: "postgres.query" },
  snippets: {
    standup: {
      description: "What a person has been working on, as a message.",
      params: { person: { description: "Whose work", example: "Ines" } },
      body: 'found = linear.search_issues(query="*", assignee="{{ person }}")\n[issue["title"] for issue in found["issues"]]\n',
    },
    revenue: {
      description: "Revenue by country over the last days.",
      params: { days: { default: 7, description: "How many days" } },
      body: 'postgres.query(sql="select country, sum(total) from orders where at > now() - {{ days }} group by 1")\n',
    },
  },
};

export const CODE = `# Three calls, one turn of the model.
late = [i for i in issues(query="login")["issues"]
        if i["priority"] in ("urgent", "high")]
sales = sql(sql="select country, orders, revenue from orders")
slack.post_message(channel="#web", text=f"{len(late)} urgent issues")

{"late": [i["id"] for i in late],
 "revenue": sum(row["revenue"] for row in sales["rows"])}`;

/** Fills the statistics with thirty days of work, as agents leave it. */
export const PAST_CALLS = `
import random, sqlite3, sys, time
random.seed(7)
db = sqlite3.connect(sys.argv[1])
now = int(time.time() * 1000)
tools = [("linear.search_issues", 9, 240), ("postgres.query", 7, 410), ("github.pulls_list", 5, 350), ("slack.post_message", 4, 180),
         ("github.search_issues_and_pull_requests", 3, 520), ("postgres.list_tables", 2, 90), ("stripe.get_charges", 2, 610)]
names, weights = [t[0] for t in tools], [t[1] for t in tools]
for day in range(29, -1, -1):
    weekday = (day + 2) % 7
    busy = random.randint(3, 9) if weekday in (0, 6) else random.randint(34, 72)
    for session in range(max(1, busy // 12)):
        at = now - day * 86400000 - random.randint(0, 30000000)
        db.execute("INSERT INTO sessions VALUES (?, 'claude-code', 41230, 1180)", (at,))
    for run in range(busy // 3):
        at = now - day * 86400000 - random.randint(0, 30000000)
        identity, inner = random.getrandbits(60), random.randint(1, 5)
        size = 0
        for call in range(inner):
            tool = random.choices(tools, weights)[0]
            output = random.randint(800, 14000)
            size += output
            db.execute("INSERT INTO calls VALUES (?, ?, 'claude-code', ?, ?, ?, ?, ?)",
                       (at, tool[0], int(tool[2] * 1000 * random.uniform(.5, 2)), random.randint(40, 300), output, int(random.random() > .04), identity))
        db.execute("INSERT INTO runs VALUES (?, ?, 'claude-code', ?, ?, ?, ?, ?, 1)",
                   (identity, at, random.randint(200000, 2000000), random.randint(80, 500), random.randint(100, 900), inner, size))
db.commit()
`;
