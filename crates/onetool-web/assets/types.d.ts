// Types of the data that the server sends and that the modules pass around. Not served.

/** Any JSON value. Its shape is known only to the schema of a tool. */
export type Json = any;
export type JsonObject = { [key: string]: Json };
/** A JSON Schema. Schemas come from anywhere, so every keyword may have any value. */
export type Schema = { [keyword: string]: any };

export type PageConfig = { title: string; allowExecute: boolean; executeHint: string; gateway: boolean };
export type RequestOptions = { method?: string; body?: Json; signal?: AbortSignal };
export type Reply = { status: number; text: string; ms: number };
export type QueryValues = { [name: string]: string | number | boolean | undefined };

export type HintKey = "readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint";
export type Annotations = { [key in HintKey]?: boolean };
export type Hint = { key: HintKey; isSet: boolean; value: boolean; label: string; title: string };

export type Tool = {
  name: string;
  description: string;
  pack?: string;
  source?: string;
  active?: boolean;
  annotations?: Annotations;
};
export type ToolDetail = Tool & {
  input_schema: Schema;
  flat_name?: string;
  signature?: string;
  warnings?: string[];
};
export type TermMatch = { term: string; fields: string[] };
export type Hit = { tool: Tool; score?: number; points?: number; matched?: TermMatch[] };
export type SearchResult = {
  query: string;
  hits: { name: string; score: number; matched: TermMatch[] }[];
  suggestions?: string[];
};

export type Server = {
  name: string;
  transport: string;
  health: "healthy" | "degraded" | "unhealthy";
  enabled: boolean;
  tool_count: number;
  reason?: string;
  next_action?: string;
  last_error?: string;
  since_ms: number;
};
export type Overview = { history: boolean; stats: boolean; run: boolean };
export type Pack = { name: string; source: string; tool_count: number; instructions?: string };
export type Shortcuts = {
  snippets: { name: string; description: string; example: string }[];
  aliases: { name: string; target: string }[];
  prompts: { name: string; description: string; arguments: string[] }[];
};

export type Resource = { uri?: string; mimeType?: string; text?: string; blob?: string };
export type Content = {
  type?: string;
  text?: string;
  data?: string;
  mimeType?: string;
  name?: string;
  uri?: string;
  description?: string;
  resource?: Resource;
};
export type ToolOutput = {
  content?: Content[];
  structuredContent?: Json;
  isError?: boolean;
  _meta?: { _trace_id?: string };
};
export type ValidationError = { path: string; message: string; keyword?: string };
/** How a call ended, or `since` when it started. */
export type CallOutcome = {
  since?: number;
  status?: number;
  text?: string;
  ms?: number;
  output?: ToolOutput;
  errors?: ValidationError[];
  failure?: { status?: number; message: string };
  canceled?: boolean;
};
export type Call = {
  id: string;
  tool: string;
  at_ms: number;
  duration_ms: number;
  is_error: boolean;
  surface: string;
  pinned: boolean;
};
export type CallRecord = Call & { arguments: JsonObject; output: ToolOutput };

export type StoredResult = { handle: string; total_lines: number; size_bytes: number; preview: string[] };
export type StoredInfo = {
  handle: string;
  is_json: boolean;
  total_lines: number;
  size_bytes: number;
  created_at: number;
  expires_at: number;
};
export type ResultPage = {
  lines: string[];
  numbers?: number[];
  marks?: [number, number][][];
  matches?: number;
  offset: number;
  returned: number;
  total_lines: number;
  has_more: boolean;
};

export type Day = { day: string; calls: number; failed: number };
export type ToolStats = { tool: string; calls: number; success_rate?: number; avg_ms?: number; total_bytes: number };
export type Stats = {
  total_calls: number;
  success_rate?: number;
  sessions: number;
  dropped?: number;
  runs: { runs: number };
  context_saved: number;
  context_saved_parts: { definitions_kept_out: number; inner_results_kept_in: number; own_cost: number };
  time_saved_ms: number;
  time_saved_parts: { inner_calls_beyond_first: number; turn_ms: number };
  per_day: Day[];
  tools: ToolStats[];
};

export type GatewayEvent = { type: string; server: Server; call: Call };
export type ConnectionState = "idle" | "live" | "lost";
export type Route = { view: string; name: string; values: URLSearchParams };
/** What a request failed with. `status` 0 means that there was no response. */
export type RequestError = Error & { status: number };
export type State = {
  tools?: Tool[];
  failure?: RequestError;
  overview?: Overview;
  servers: Server[];
  connection: ConnectionState;
  /** Set when the server did not accept the token; true if one was sent. */
  refused?: boolean;
  /** The calls made from this page, where there is no gateway. */
  calls: CallRecord[];
  /** The id of the last call that finished. */
  finished?: string;
  route: Route;
};

export type Parsed = { value?: Json; error?: string; line?: number; column?: number };
export type DiffLine = { sign: "+" | "-" | " "; text: string };
export type Variant = { label: string; schema: Schema };
export type Kind =
  | "const"
  | "enum"
  | "variants"
  | "json"
  | "string"
  | "integer"
  | "number"
  | "boolean"
  | "null"
  | "array"
  | "object"
  | "map";

/** The attributes that tie a control to its label, description and errors. */
export type ControlAttributes = {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid"?: string;
  "aria-label"?: string;
};
export type OnChange = (next: Json) => void;
/** One value of a form: `path` is its JSON Pointer, `root` the whole schema. */
export type FieldProps = {
  name: string;
  schema: Schema;
  root: Schema;
  value: Json;
  path: string;
  required?: boolean;
  depth: number;
  onChange: OnChange;
};
export type ControlProps = FieldProps & { kind: Kind; control: ControlAttributes };
export type FieldsProps = Omit<FieldProps, "name" | "required">;
export type JsonInputProps = {
  value: Json;
  control: ControlAttributes;
  rows?: number;
  refuse?: (value: Json) => string | undefined;
  onChange: OnChange;
  onState?: (problem: string | undefined) => void;
};

/** What a click or a key on a form control sends. */
export type FieldEvent = Event & { target: HTMLInputElement };
export type Filter = HintKey | "active";
export type Expansion = { code?: string; failure?: RequestError };
export type Option = [key: string, label: string];

declare global {
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
    parse(text: string, reviver: (key: string, value: any, context: { source: string }) => any): any;
  }
}
