/** Who may import whom: the tables of docs/architecture.md as data. */

/**
 * For each folder the ranks of its subfolders, and of the files that lie directly in it ("."). Files of a subfolder may
 * import that subfolder and siblings of a strictly lower rank, so a folder and its subfolder never import each other.
 */
export const RANK: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "src": {
    domain: 0,
    logging: 1,
    markdown: 1,
    config: 2,
    persistence: 2,
    providers: 2,
    sandbox: 2,
    extension: 2,
    environment: 3,
    processes: 3,
    prompt: 4,
    iteration: 5,
    query: 6,
    conversation: 7,
    channels: 8,
    app: 9,
    page: 9,
  },
  "extensions/fs": {
    tree: 0,
    encoding: 0,
    checkpoints: 1,
    patch: 1,
    walk: 1,
    workspace: 2,
    search: 3,
    read: 4,
    change: 5,
    ".": 6,
  },
  "extensions/git": { output: 0, program: 1, commands: 2, ".": 3 },
  "extensions/mcp": { login: 0, ".": 1 },
  "src/app": {
    settings: 0,
    extensions: 1,
    otel: 1,
    providers: 1,
    update: 1,
    session: 2,
    replay: 3,
    services: 3,
    terminal: 3,
    doctor: 4,
  },
  "src/channels": { ".": 0, schemas: 0, acp: 1, cli: 1, http: 1, mcp: 1, telegram: 1, tui: 1 },
  "src/channels/cli": {
    input: 0,
    manual: 0,
    output: 0,
    schemas: 0,
    ask: 1,
    conversations: 2,
    commands: 3,
    completion: 3,
    program: 4,
    ".": 5,
  },
  "src/channels/http": {
    page: 0,
    response: 0,
    auth: 1,
    routing: 2,
    metrics: 3,
    stream: 3,
    request: 4,
    api: 5,
    openai: 5,
    docs: 6,
    ".": 7,
  },
  "src/channels/telegram": { api: 0, inbound: 1, text: 1, outbound: 2, chat: 3, ".": 4 },
  "src/channels/tui": { prefs: 0, text: 0, entries: 1, input: 1, widgets: 1, panels: 2, ".": 3 },
  "src/conversation": { archive: 0, export: 0, ".": 1, nodes: 2 },
  "src/domain": { ".": 0, grants: 0, reports: 0, kit: 1, text: 2, calls: 3, images: 3, query: 4, records: 5 },
  "src/environment": { history: 0, ".": 1 },
  "src/extension": { ".": 0, registry: 1, loading: 2 },
  "src/markdown": { ".": 0, terminal: 1 },
  "src/page": { text: 0, store: 1, parts: 2, panels: 3, views: 4, ".": 5 },
  "src/persistence": {
    schema: 0,
    store: 0,
    database: 1,
    postgres: 2,
    sqlite: 2,
    content: 3,
    branches: 4,
    logs: 4,
    maintenance: 4,
    runs: 5,
    archive: 6,
    conversations: 6,
    variables: 6,
    copy: 7,
    queries: 7,
    states: 7,
    nodes: 8,
    ".": 9,
  },
  "src/processes": { seatbelt: 0, ".": 1, asked: 2 },
  "src/prompt": { context: 0, reply: 0, schema: 0, ".": 1 },
  "src/providers": { ".": 0, copilot: 1, models: 1, router: 1, wire: 1 },
  "src/sandbox": { codec: 0, confine: 0, ".": 1, child: 2, exec: 2, launch: 3, modules: 3, host: 4 },
  "src/sandbox/child": {
    intrinsics: 0,
    setup: 0,
    syntax: 0,
    rewrite: 1,
    view: 1,
    errors: 2,
    prepare: 3,
    variables: 3,
    compiler: 4,
    pipe: 4,
    run: 5,
    platform: 6,
    realm: 6,
    blocks: 7,
    ".": 8,
  },
};

export interface Wall {
  /** Path prefix of the files behind the wall. */
  readonly of: string;
  /** Path prefixes that they may import, and nothing else of the project. */
  readonly may: readonly string[];
  /** Prefixes that they may import with `import type` only. */
  readonly types?: readonly string[];
}

const CHANNELS = ["cli", "http", "tui", "telegram", "mcp", "acp"];

/** Walls that a rank cannot say, besides the ranks. The first that fits a file holds for it. */
export const WALLS: readonly Wall[] = [
  {
    of: "src/sandbox/child/",
    may: [
      "src/sandbox/child/",
      "src/sandbox/protocol.ts",
      "src/sandbox/codec/codec.ts",
      // What it captures before foreign code runs, once for every reader and writer of bytes.
      "src/sandbox/codec/intrinsics.ts",
      "src/sandbox/confine/",
      // Pure and without imports: the compiler names what a block may have meant.
      "src/domain/kit/nearest_name.ts",
      "src/domain/kit/variable_name.ts",
    ],
    types: ["src/domain/"],
  },
  { of: "src/sandbox/protocol.ts", may: ["src/sandbox/codec/intrinsics.ts"] },
  // It runs in a browser.
  { of: "src/page/", may: ["src/page/", "src/domain/", "src/markdown/"], types: ["src/channels/"] },
  ...CHANNELS.map((name): Wall => ({
    of: `src/channels/${name}/`,
    may: [
      `src/channels/${name}/`,
      "src/channels/channel.ts",
      "src/channels/schemas/",
      "src/conversation/",
      "src/domain/",
      "src/logging/",
      "src/markdown/",
    ],
    types: ["src/config/"],
  })),
];

/** Folders with a door: from outside only these files may be imported, and the files of these folders. */
export const DOORS: Readonly<Record<string, readonly string[]>> = {
  "src/persistence/": [
    "src/persistence/store/",
    "src/persistence/open_store.ts",
    "src/persistence/maintenance/sqlite_maintenance.ts",
    "src/persistence/copy_store.ts",
  ],
  "src/query/": ["src/query/run_query.ts", "src/query/query_parts.ts"],
};

/** Packages with a known owner. Every other one belongs to the one folder of src/ that imports it (except SHARED). */
export const OWNERS: Readonly<Record<string, string>> = {
  "node:sqlite": "src/persistence/",
  "kysely": "src/persistence/",
  "pg": "src/persistence/",
  "hono": "src/channels/http/",
  "hono-openapi": "src/channels/http/",
  "jose": "src/channels/http/",
  "preact": "src/page/",
  "preact/": "src/page/",
  "@preact/": "src/page/",
  "@hono/": "src/channels/http/",
  "grammy": "src/channels/telegram/",
  "commander": "src/channels/cli/",
  "picocolors": "src/channels/cli/",
  "@earendil-works/pi-tui": "src/channels/tui/",
  "@modelcontextprotocol/server": "src/channels/mcp/",
  "@agentclientprotocol/": "src/channels/acp/",
  "acorn": "src/sandbox/child/",
  "sucrase": "src/sandbox/child/",
  "mustache": "src/sandbox/child/",
};

/** Packages that are a language of the project rather than a part of one folder. */
export const SHARED: readonly string[] = ["zod"];
