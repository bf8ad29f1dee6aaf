import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";

const count = z.strictObject({ last: z.number().int().min(1).max(50).optional() }).optional();

export default defineExtension({
  namespace: "vis.debug",
  alias: { ns: "vis.ext.debug", alias: "debug" },
  doc: "Shows the model its messages, its last iterations and their times.",
  group: "memory",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  readOnly: true,
  activate: ({ db, depth }: EnvironmentView): boolean => db !== undefined && depth === 0,
  prompt: (): string => "",
  shown: 0,
  symbols: [
    fn("prompt", (env: EnvironmentView) => prompt(env), {
      doc: "Messages of the last stored model call.",
      args: z.tuple([]),
      returns: "{role, text, chars}[]",
    }),
    fn("iterations", (env: EnvironmentView, options?: Last) => iterations(env, options), {
      doc: "The last iterations of this conversation, oldest first; 5 by default.",
      args: z.tuple([count]),
      returns: "{request, number, status, thinking, blocks: {code, ok, result, stdout, error, ms}[]}[]",
    }),
    fn(
      "timings",
      async (env: EnvironmentView, options?: Last) =>
        (await iterations(env, options)).map(({ request, number, modelMs, blocks }) => (
          { request, number, modelMs, blockMs: blocks.map(({ ms }) => Math.round(ms)) }
        )),
      {
        doc: "Milliseconds of the model and of each block in the last iterations.",
        args: z.tuple([count]),
        returns: "{request, number, modelMs, blockMs: number[]}[]",
      },
    ),
    fn("state", ({ conversationId, depth, workspace, maxIterations, currentIterationId }: EnvironmentView) => (
      { conversationId, depth, workspace, maxIterations, currentIterationId }
    ), {
      doc: "Ids, workspace, depth and step limit of this query.",
      args: z.tuple([]),
      returns: "{conversationId, depth, workspace, maxIterations, currentIterationId}",
    }),
  ],
});

interface Last {
  readonly last?: number;
}

const SHOWN = 5;

function reader({ db }: EnvironmentView): NonNullable<EnvironmentView["db"]> {
  if (db) return db;
  throw new Error("Cannot read the conversation: env.db is missing");
}

async function prompt(env: EnvironmentView) {
  const db = reader(env);
  for (const { id, iterations } of (await db.queries(env.conversationId)).toReversed()) {
    for (let number = Math.max(iterations, (await db.iterations(id)).length); number > 0; number--) {
      const sent = await db.sent(id, number);
      if (sent) return sent.map(({ role, text }) => ({ role, text, chars: text.length }));
    }
  }
  return [];
}

async function iterations(env: EnvironmentView, { last = SHOWN }: Last = {}) {
  const db = reader(env);
  const found = [];
  for (const { id, request } of (await db.queries(env.conversationId)).toReversed()) {
    const all = await db.iterations(id);
    found.unshift(...all.map((one) => ({ request, ...one })));
    if (found.length >= last) break;
  }
  return found.slice(-last);
}
