import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";

const text = z.string().min(1);
const conversation = z.string().min(8).optional();
const time = z.union([z.string(), z.number(), z.date()]).optional();

const HINT = "Earlier conversations and their variables.";

/** A reader in this set has more than one conversation, so a request need not list the conversations again. */
const FOUND = new WeakSet<object>();

export default defineExtension({
  namespace: "vis.history",
  alias: { ns: "vis.ext.history", alias: "history" },
  doc: "Searches requests, code and answers of stored conversations, and reads their results and variables.",
  group: "memory",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  readOnly: true,
  activate: ({ db, depth }: EnvironmentView): boolean => db !== undefined && depth === 0,
  prompt: async ({ db }: EnvironmentView): Promise<string> => {
    if (db === undefined) return "";
    if (!FOUND.has(db) && (await db.conversations({ limit: 2 })).length > 1) FOUND.add(db);
    return FOUND.has(db) ? HINT : "";
  },
  shown: 0,
  symbols: [
    fn(
      "search",
      (env: EnvironmentView, words: string, options?: HistorySearchOptions) => searchHistory(env, words, options),
      {
        doc:
          "Places where all words occur, the best 20 or limit; more: whether there are others; kind is request, code or answer; times are dates.",
        args: z.tuple([
          text.describe("text"),
          z.strictObject({
            conversation,
            kind: z.enum(["request", "code", "answer"]).optional(),
            since: time,
            until: time,
            limit: z.number().int().min(1).max(200).optional(),
          }).optional(),
        ]),
        misnamed: { results: "hits", length: "hits.length", "hits.text": "snippet", "hits.content": "snippet" },
        returns:
          "{hits: {kind, snippet, conversationId, title, queryId, iterationId, variable, at: Date}[], more: boolean}",
        examples: ['await history.search("invoice parser", {kind: "code"})'],
      },
    ),
    fn(
      "conversations",
      (env: EnvironmentView, options?: { readonly limit?: number }) => newest(env, options?.limit ?? 20),
      {
        doc: "The 20 last used conversations, or limit; more: whether there are others.",
        args: z.tuple([z.strictObject({ limit: z.number().int().min(1).max(1000).optional() }).optional()]),
        misnamed: {
          "conversations.name": "title",
          "conversations.conversationId": "id",
          length: "conversations.length",
        },
        returns: "{conversations: {id, title, workspace, queries, createdAt}[], more: boolean}",
      },
    ),
    fn("queries", (env: EnvironmentView, of?: string) => readerOf(env).queries(of ?? env.conversationId), {
      doc: "Requests and answers of a conversation, oldest first; of this one and its running branch by default.",
      args: z.tuple([conversation.describe("conversation")]),
      misnamed: { queryId: "id", text: "request", question: "request" },
      returns: "{id, request, status, answer, iterations, createdAt}[]",
    }),
    fn("iterations", (env: EnvironmentView, queryId: string) => readerOf(env).iterations(queryId), {
      doc: "Thoughts, code and output of a query.",
      args: z.tuple([text.describe("queryId")]),
      misnamed: { iterationId: "id", "blocks.output": "stdout", "blocks.value": "result" },
      returns: "{id, number, status, thinking, blocks: {code, ok, result, stdout, error}[]}[]",
    }),
    fn("variables", (env: EnvironmentView, of?: string) => readerOf(env).variables(of ?? env.conversationId), {
      doc: "Variables of a conversation, newest first.",
      args: z.tuple([conversation.describe("conversation")]),
      misnamed: { value: "history.variable(conversation, name)", version: "versions" },
      returns: "{name, kind, type, versions, summary, createdAt}[]",
    }),
    fn(
      "variable",
      (env: EnvironmentView, of: string, name: string, version?: number) =>
        readerOf(env).variable(of, { name, version }),
      {
        doc: "The value of a variable of a conversation: its newest version, or that number.",
        args: z.tuple([
          z.string().min(8).describe("conversation"),
          text.describe("name"),
          z.number().int().min(1).optional().describe("version"),
        ]),
        returns: "unknown",
      },
    ),
  ],
});

type Hit = Awaited<ReturnType<NonNullable<EnvironmentView["db"]>["search"]>>[number];

interface HistorySearchOptions {
  readonly conversation?: string;
  readonly kind?: "request" | "code" | "answer";
  readonly since?: string | number | Date;
  readonly until?: string | number | Date;
  readonly limit?: number;
}

interface HistoryHit extends Omit<Hit, "at" | "branchId" | "position" | "ownerTable" | "ownerId" | "field"> {
  readonly at: Date;
}

async function searchHistory(
  env: EnvironmentView,
  text: string,
  options: HistorySearchOptions = {},
): Promise<{ readonly hits: readonly HistoryHit[]; readonly more: boolean }> {
  const { conversation: conversationId, kind, since, until, limit = 20 } = options;
  const found = await readerOf(env).search(text, {
    limit: limit + 1,
    conversationId,
    kind,
    since: timeOf(since, "since"),
    until: timeOf(until, "until"),
  });
  const hits = found.slice(0, limit).map((
    { kind, snippet, conversationId, title, queryId, iterationId, variable, at },
  ) => (
    { kind, snippet, conversationId, title, queryId, iterationId, variable, at: new Date(at) }
  ));
  return { hits, more: found.length > limit };
}

function timeOf(time: string | number | Date | undefined, key: string): number | undefined {
  if (time === undefined) return undefined;
  const at = new Date(time).getTime();
  if (Number.isNaN(at)) {
    throw new TypeError(
      `Cannot search the history: ${key} is ${JSON.stringify(time)}, not a date such as "2026-11-22"`,
    );
  }
  return at;
}

function readerOf({ db }: EnvironmentView): NonNullable<EnvironmentView["db"]> {
  if (db) return db;
  throw new Error("Cannot read the history: env.db is missing");
}

async function newest(env: EnvironmentView, limit: number) {
  const found = await readerOf(env).conversations({ limit: limit + 1 });
  return { conversations: found.slice(0, limit), more: found.length > limit };
}
