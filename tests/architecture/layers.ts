/** The tables of docs/internals/architecture.md as data: the imports that are allowed. */

/** A file imports its own folder and folders of a strictly lower rank. */
export const RANK: Readonly<Record<string, number>> = {
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
};

export interface Wall {
  readonly of: string;
  /** The path prefixes that these files may import. They import no other file of the project. */
  readonly may: readonly string[];
  /** The prefixes that these files may import with `import type` only. */
  readonly types?: readonly string[];
}

const CHANNELS = ["cli", "http", "tui", "telegram", "mcp", "acp"];

/** These walls limit imports that the ranks permit. The first wall that matches a file applies. */
export const WALLS: readonly Wall[] = [
  {
    of: "src/sandbox/child/",
    may: [
      "src/sandbox/child/",
      "src/sandbox/protocol.ts",
      "src/sandbox/codec/codec.ts",
      // This file captures intrinsics before foreign code runs, once for all readers and writers of bytes.
      "src/sandbox/codec/intrinsics.ts",
      "src/sandbox/confine/",
      // This file is pure and imports no module. The compiler uses it to name the probable meaning of a misspelled
      // name.
      "src/domain/kit/names.ts",
    ],
    types: ["src/domain/"],
  },
  { of: "src/sandbox/protocol.ts", may: ["src/sandbox/codec/intrinsics.ts"], types: ["src/domain/"] },
  // The page runs in a browser.
  { of: "src/page/", may: ["src/page/", "src/domain/", "src/markdown/"], types: ["src/channels/"] },
  ...CHANNELS.map((name): Wall => ({
    of: `src/channels/${name}/`,
    may: [
      `src/channels/${name}/`,
      "src/channels/channel.ts",
      "src/channels/search_hit_schema.ts",
      "src/conversation/",
      "src/domain/",
      "src/logging/",
      "src/markdown/",
    ],
    types: ["src/config/"],
  })),
];

/** Only these files of the folders may be imported from outside. */
export const DOORS: Readonly<Record<string, readonly string[]>> = {
  "src/persistence/": [
    "src/persistence/store.ts",
    "src/persistence/archive_schema.ts",
    "src/persistence/open_store.ts",
    "src/persistence/sqlite/maintenance.ts",
    "src/persistence/copy_store.ts",
  ],
  "src/query/": ["src/query/run_query.ts", "src/query/query_settings.ts", "src/query/steering.ts"],
  "src/channels/http/": [
    "src/channels/http/start_http.ts",
    "src/channels/http/http_parts.ts",
    "src/channels/http/connections.ts",
    "src/channels/http/tokens.ts",
    "src/channels/http/signed_tokens.ts",
    // The page takes its types from this file.
    "src/channels/http/api/schemas.ts",
  ],
  "src/channels/telegram/": ["src/channels/telegram/bot.ts", "src/channels/telegram/bot_api.ts"],
  "src/channels/tui/": [
    "src/channels/tui/run_screen.ts",
    "src/channels/tui/terminal.ts",
    "src/channels/tui/prefs.ts",
    "src/channels/tui/user_commands.ts",
    "src/channels/tui/prompt_files.ts",
    "src/channels/tui/workspace_files.ts",
  ],
};

/** Maps packages to their owners. Each other package belongs to the one folder of src/ that imports it (except
 * SHARED). */
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
  "acorn": "src/sandbox/",
  "sucrase": "src/sandbox/",
  "mustache": "src/sandbox/child/",
};

/** These packages are a language of the project rather than a part of one folder. */
export const SHARED: readonly string[] = ["zod"];
