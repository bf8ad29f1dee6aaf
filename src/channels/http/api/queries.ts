import { Hono } from "hono";
import { z } from "zod";
import type { ShownVersion } from "../../../conversation/stored_conversations.ts";
import { readable } from "../../../domain/kit/json.ts";
import { countedChoice } from "../../../domain/kit/text.ts";
import type { Env } from "../http_parts.ts";
import { Problem } from "../problem.ts";
import { describeIn, existing, inConversation, inQuery, validQuery } from "../route.ts";
import * as schema from "./schemas.ts";

const VALUE_CHARS = 20_000, WHOLE_CHARS = 1_000_000, MOST_VERSIONS = 1000;

const describe = describeIn("queries");
const describeVariable = describeIn("variables");

export const queries = new Hono<Env>();

queries.get(
  "/queries/:queryId/iterations",
  describe("listIterations", "List the iterations of a query with their blocks and results, in order", {
    200: schema.IterationListSchema,
  }),
  validQuery(schema.IterationsQuery),
  inQuery,
  async (c) => {
    const { after, limit } = c.req.valid("query");
    const { queryId, forkedAt, iterations } = c.var.query;
    const most = forkedAt === undefined ? limit + 1 : Math.max(0, Math.min(limit + 1, iterations - after));
    const found = await c.env.parts.conversations.iterations(queryId, { after: after - 1, limit: most });
    const items = found.slice(0, limit).map(({ position, ...rest }) => ({ iteration: position + 1, ...rest }));
    const next = found.length > limit ? items.at(-1)?.iteration ?? null : null;
    return c.json(schema.IterationListSchema.parse({ items, next }));
  },
);

queries.get(
  "/queries/:queryId/iterations/:iteration/messages",
  describe("getSentMessages", "Get the messages sent to the model for an iteration (1-based)", {
    200: schema.MessagesSchema,
  }),
  inQuery,
  async (c) => {
    const iteration = c.req.param("iteration");
    const number = Number(/^\d{1,6}$/.exec(iteration)?.[0] ?? 0);
    const { queryId, forkedAt, iterations } = c.var.query;
    const isShown = number >= 1 && (forkedAt === undefined || number <= iterations);
    const { conversations } = c.env.parts;
    const messages = await existing(
      `iteration ${iteration.slice(0, 20)}`,
      async () => !isShown ? null : await conversations.sentMessages(queryId, number - 1),
    );
    return c.json({ messages });
  },
);

queries.get(
  "/variables",
  describeVariable("listVariables", "List all variables of the branch, also system variables, newest first", {
    200: schema.listOf(schema.VariableSchema),
  }),
  inConversation,
  async (c) => c.json({ items: await c.env.parts.conversations.stored.variables(c.var.conversation.branchId) }),
);

queries.get(
  "/variables/:name",
  describeVariable("getVariableHistory", "List the latest versions of a variable, oldest first", {
    200: schema.VersionListSchema,
  }),
  validQuery(schema.VersionsQuery),
  inConversation,
  async (c) => {
    const name = c.req.param("name");
    const { newest, version } = c.req.valid("query");
    const { records } = c.env.parts.conversations;
    const items = await existing(
      version === undefined ? variableOf(name) : `version ${version} of ${variableOf(name)}`,
      async () => {
        if (version === undefined) {
          return (await records.versions(c.var.conversation, { name, newest })).map((one) =>
            shownVersion(one, VALUE_CHARS)
          );
        }
        const found = await records.versions(c.var.conversation, { name, newest: MOST_VERSIONS });
        const wanted = found.filter((one) => one.version === version);
        return wanted.length === 0 ? null : wanted.map((one) => shownVersion(one, WHOLE_CHARS));
      },
    );
    return c.json({ name, items });
  },
);

function shownVersion({ version, kind, shape, reason, code, createdAt, shown }: ShownVersion, limit: number) {
  const text = shown === null ? null : readable(shown.value);
  const value = text?.slice(0, limit) ?? null;
  return { ...{ version, kind, shape, reason, code, createdAt }, value, chars: text?.length ?? null };
}

queries.get(
  "/variables/:name/diff",
  describeVariable("getVariableDiff", "Compare two versions of a variable", { 200: z.object({ diff: z.unknown() }) }),
  validQuery(schema.DiffQuery),
  inConversation,
  async (c) => {
    const name = c.req.param("name");
    const { from, to } = c.req.valid("query");
    const { records } = c.env.parts.conversations;
    const [newest] = await existing(variableOf(name), () => records.versions(c.var.conversation, { name, newest: 1 }));
    const known = newest?.version ?? 0;
    const missing = [from, to].find((version) => version > known);
    if (missing !== undefined) {
      throw new Problem(
        `Cannot find version ${missing} of ${variableOf(name)}: it has ${countedChoice(known, "version")}`,
        { kind: "not-found" },
      );
    }
    return c.json({ diff: await records.diff(c.var.conversation, { name, from, to }) });
  },
);

function variableOf(name: string): string {
  return `variable ${name.slice(0, 100)}`;
}

queries.get(
  "/graph",
  describeVariable("getGraph", "Get the variables of the branch, each with the variables from which it was computed", {
    200: schema.GraphSchema,
  }),
  inConversation,
  async (c) => {
    const { conversations: { stored } } = c.env.parts, { branchId } = c.var.conversation;
    const heads = await stored.variables(branchId);
    const names = new Set(heads.map(({ name }) => name));
    const edges = await stored.dependencies(branchId);
    return c.json(schema.GraphSchema.parse({
      nodes: heads.map(({ summary: { shape }, ...head }) => ({ ...head, shape })),
      edges: edges.filter(({ name, reads }) => names.has(name) && names.has(reads)),
    }));
  },
);
