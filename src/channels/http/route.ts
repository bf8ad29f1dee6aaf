import { setImmediate } from "node:timers";
import type { Context, MiddlewareHandler } from "hono";
import { describeRoute, uniqueSymbol } from "hono-openapi";
import { createMiddleware } from "hono/factory";
import { z } from "zod";
import type { Conversation, Conversations } from "../../conversation/conversations.ts";
import type { AskOptions } from "../../conversation/ask_options.ts";
import { UsageError } from "../../domain/errors.ts";
import { inputFault } from "../../domain/input_fault.ts";
import { readBounded } from "../../domain/kit/bytes.ts";
import { Semaphore } from "../../domain/kit/concurrency.ts";
import { type JsonLimits, JsonTooLarge, readForeignJson } from "../../domain/kit/json.ts";
import type { StoredQuery } from "../../domain/query/stored_query.ts";
import { bodyTooLarge } from "./admission.ts";
import type { Env, HttpLimits, HttpParts } from "./http_parts.ts";
import { Problem } from "./problem.ts";
import type { TokenScope } from "./tokens.ts";

type Json = Readonly<Record<string, unknown>>;

type Content = string | z.ZodType;

interface Described {
  /** With null, the route needs no token. */
  readonly scope?: TokenScope | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors?: readonly (keyof typeof ERRORS)[];
  readonly [status: number]: Content | readonly Content[];
}

const SUCCESS: Readonly<Record<string, string>> = {
  200: "Success",
  201: "Created",
  202: "The running query received the message",
  204: "Deleted, or the client already has all events",
};
const ERRORS = {
  409: "A query is running in the conversation, or the resource has changed",
  412: "The conversation does not match If-Match",
  422: "The idempotency key was used with another body",
  429: "Too many requests, or the quota of the token is exhausted; Retry-After gives the seconds to wait",
};
const SCOPES: readonly TokenScope[] = ["read", "write", "admin"];
export const EVENT_STREAM = "text/event-stream";
const EVENTS = {
  $ref: "#/components/schemas/QueryEvent",
  description:
    "Server-sent events, if Accept names text/event-stream. The name of an event is the type of a QueryEvent; its data is the QueryEvent as JSON",
};
const OPENAI_EVENTS = { type: "string", description: "With stream, server-sent events as in the API of OpenAI" };

function scopesFrom(scope: TokenScope): string {
  return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(SCOPES.slice(SCOPES.indexOf(scope)));
}

export function describeIn(
  tag: string,
): (operationId: string, summary: string, about: Described) => MiddlewareHandler<Env> {
  const [type, name] = tag === "openai" ? ["application/json", "OpenAiError"] : ["application/problem+json", "Problem"];
  const failed = { [type]: { schema: { $ref: `#/components/schemas/${name}` } } };
  const events = tag === "openai" ? OPENAI_EVENTS : EVENTS;
  return (operationId, summary, { scope = "read", headers = {}, errors = [], ...answers }) => {
    const enter: MiddlewareHandler<Env> = async (c, next) => {
      if (scope !== null && SCOPES.indexOf(c.var.caller.scope) < SCOPES.indexOf(scope)) {
        throw new Problem(
          `Cannot call ${operationId}: it needs the scope ${scope}, but the token has the scope ${c.var.caller.scope}; ` +
            "use another token",
          {
            kind: "insufficient-scope",
            headers: { "www-authenticate": `Bearer realm="vis", error="insufficient_scope", scope="${scope}"` },
          },
        );
      }
      await next();
    };
    const answered = Object.entries<Described[number]>(answers).map(([status, content]) => [status, {
      description: SUCCESS[status],
      content: Object.fromEntries([content].flat().map((one) => mediaOf(one, events))),
    }]);
    const refused = [...errors, 429 as const].map((status) => [status, {
      description: ERRORS[status],
      content: failed,
    }]);
    const specification = describeRoute({
      ...{ operationId, summary, tags: [tag] },
      description: scope === null ? "Needs no token." : `Needs a token with the scope ${scopesFrom(scope)}.`,
      ...(scope === null ? { security: [] } : { "x-vis-scope": scope }),
      parameters: Object.entries(headers).map(([name, description]) => {
        return { name, in: "header", required: false, description, schema: { type: "string" } };
      }),
      responses: Object.fromEntries([...answered, ...refused, ["default", { description: "Error", content: failed }]]),
    });
    return Object.assign(enter, specification);
  };
}

function mediaOf(content: Content, events: Json): readonly [string, Json] {
  if (typeof content !== "string") return ["application/json", { schema: schemaFor(content, "output") }];
  return [content, { schema: content === EVENT_STREAM ? events : {} }];
}

function schemaFor(
  schema: z.ZodType,
  io: "input" | "output",
): { readonly toOpenAPISchema: () => Promise<{ readonly schema: Json }> } {
  return { toOpenAPISchema: () => Promise.resolve({ schema: schemaOf(schema, io) }) };
}

export function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    ...{ io, unrepresentable: "any" },
    override: ({ jsonSchema }) => {
      // Zod adds these bounds to each integer. Later versions may add fields to responses, so the schema allows more
      // properties.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return rest;
}

export async function existing<T>(
  what: string,
  read: () => Promise<T | null | undefined>,
  why = "the server does not have it",
): Promise<T> {
  const found = await read().catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
  });
  if (found !== null && found !== undefined) return found;
  throw new Problem(`Cannot find ${what}: ${why}`, { kind: "not-found" });
}

type Served = Pick<HttpParts, "workspace" | "workspaces">;

export function isServed(
  { workspace: usual, workspaces = [] }: Served,
  { workspace }: Pick<Conversation, "workspace">,
): boolean {
  return workspace === usual || workspaces.includes(workspace);
}

export function servedWorkspace(parts: Served, workspace = parts.workspace): string {
  if (isServed(parts, { workspace })) return workspace;
  throw new Problem(
    `Cannot use workspace ${
      workspace.slice(0, 200)
    }: the server does not have it; run vis serve there, or add it to server.workspaces`,
    { kind: "bad-request" },
  );
}

export async function findConversation(conversations: Conversations, id = ""): Promise<Conversation> {
  const isId = /^[0-9a-f-]{8,36}$/.test(id);
  const why = id.length < 36
    ? "no conversation has this id, or several ids begin with it; send the whole id"
    : undefined;
  return await existing(
    `conversation ${id.slice(0, 100)}`,
    async () => isId ? await conversations.byId(id) : null,
    why,
  );
}

/** The query may be in any branch of the conversation. */
export async function findQuery(c: Context<Env>, queryId = ""): Promise<StoredQuery> {
  return await existing(`request ${queryId.slice(0, 100)}`, async () => {
    const { conversations } = c.env.parts;
    const query = await conversations.records.query(queryId);
    const branches = query ? await conversations.branches(c.var.conversation.conversationId) : [];
    if (!query || !branches.some(({ branchId }) => branchId === query.branchId)) return null;
    if (query.branchId === c.var.conversation.branchId) return query;
    const shown = await conversations.queries(c.var.conversation);
    return shown.find((one) => one.queryId === query.queryId) ?? query;
  });
}

export const inConversation = createMiddleware<Env>(async (c, next) => {
  c.set("conversation", await findConversation(c.env.parts.conversations, c.req.param("id")));
  await next();
});

export const inQuery = createMiddleware<Env>(async (c, next) => {
  c.set("conversation", await findConversation(c.env.parts.conversations, c.req.param("id")));
  c.set("query", await findQuery(c, c.req.param("queryId")));
  await next();
});

type Valid<T extends "json" | "query", S extends z.ZodType> = MiddlewareHandler<
  Env,
  string,
  { in: { [K in T]: z.input<S> }; out: { [K in T]: z.output<S> } }
>;

/** Without this limit, a long list of wrong items would produce a fault for each item. */
const FIRST_FAULTS = { abortEarly: true, reportInput: false, error: inputFault };
const MAX_MESSAGE = 500;
const JSON_LIMITS: JsonLimits = { values: 100_000, depth: 200 };
/** Vis parses one large body at a time, so that other requests run between two of them. */
const PARSING = new Semaphore(1);
const LARGE = 64 << 10;

export function validQuery<S extends z.ZodType>(schema: S): Valid<"query", S> {
  return valid({ target: "query", schema }, (c) => checked(schema, { value: c.req.query(), what: "the query string" }));
}

export function validJson<S extends z.ZodType>(schema: S): Valid<"json", S> {
  return valid({ target: "json", schema }, async (c) => {
    const text = await readRequestBody(c.req.raw, c.env.parts.limits);
    c.set("bodyText", text);
    const read = () => checked(schema, { value: parsed(text), what: "the body" });
    if (text.length <= LARGE) return read();
    return await PARSING.run(async () => {
      await new Promise<void>((resolve) => setImmediate(resolve));
      return read();
    });
  });
}

function valid<T extends "json" | "query", S extends z.ZodType>(
  { target, schema }: { readonly target: T; readonly schema: S },
  read: (c: Context<Env>) => unknown,
): Valid<T, S> {
  const middleware: MiddlewareHandler<Env> = async (c, next) => {
    c.req.addValidatedData(target, Object(await read(c)));
    await next();
  };
  return Object.assign(middleware, { [uniqueSymbol]: { target, ...schemaFor(schema, "input") } });
}

function parsed(text: string): unknown {
  if (text === "") return {};
  try {
    return readForeignJson(text, JSON_LIMITS);
  } catch (error) {
    if (!(error instanceof JsonTooLarge)) {
      throw new Problem("Cannot read the body: it is not JSON; send a JSON object", { kind: "bad-request" });
    }
    const isLong = error.limit === "values";
    throw new Problem(
      `Cannot read the body: ${error.what}, the limit; send ${isLong ? "fewer values" : "fewer levels"}`,
      { kind: isLong ? "too-large" : "bad-request" },
    );
  }
}

function checked(schema: z.ZodType, { value, what }: { readonly value: unknown; readonly what: string }): unknown {
  const result = schema.safeParse(value, FIRST_FAULTS);
  if (result.success) return result.data;
  const errors = result.error.issues.slice(0, 20).map(innermost).map(({ path, message }) => ({
    path: path.map(String).join("."),
    message: message.slice(0, MAX_MESSAGE),
  }));
  const [first] = errors;
  throw new Problem(`Cannot use ${what}: ${first?.path || "it"} ${first?.message ?? "has a value that is not valid"}`, {
    kind: "bad-request",
    errors,
  });
}

function innermost(issue: z.core.$ZodIssue): Pick<z.core.$ZodIssue, "path" | "message"> {
  const meant = issue.code === "invalid_union" ? issue.errors.filter(([first]) => first && first.path.length > 0) : [];
  const [[fault] = []] = meant;
  if (!fault || meant.length > 1) return issue;
  const { path, message } = innermost(fault);
  return { path: [...issue.path, ...path], message };
}

const CLOSE = { connection: "close" } as const;

async function readRequestBody(
  request: Request,
  limits: Pick<HttpLimits, "bodyBytes" | "bodyMs">,
): Promise<string> {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding !== "identity") {
    throw new Problem(
      `Cannot read the body: its content encoding is ${encoding.slice(0, 50)}; send it without an encoding`,
      {
        kind: "unsupported-media-type",
      },
    );
  }
  const type = request.headers.get("content-type") ?? "";
  const isEmpty = request.body === null || request.headers.get("content-length") === "0";
  if (!isEmpty && !/^application\/json\s*(;|$)/i.test(type)) {
    const shown = type === "" ? "it has no content type" : `its content type is ${type.slice(0, 50)}`;
    throw new Problem(`Cannot read the body: ${shown}; send application/json`, {
      kind: "unsupported-media-type",
    });
  }
  const bytes = request.body ? await readAll(request.body, limits) : new Uint8Array();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Problem("Cannot read the body: it is not UTF-8; encode the JSON as UTF-8", { kind: "bad-request" });
  }
}

async function readAll(
  body: ReadableStream<Uint8Array>,
  { bodyBytes, bodyMs }: Pick<HttpLimits, "bodyBytes" | "bodyMs">,
): Promise<Uint8Array> {
  const late = new AbortController();
  const tooLate = new Problem(
    `Cannot read the body: it did not arrive within ${bodyMs / 1000} s, the limit; send it faster`,
    {
      kind: "timeout",
      headers: CLOSE,
    },
  );
  const timer = setTimeout(() => late.abort(tooLate), bodyMs);
  try {
    const tooLarge = () => bodyTooLarge(bodyBytes);
    return await readBounded(body, { maxBytes: bodyBytes, tooLarge, signal: late.signal });
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem("Cannot read the body: the connection ended early; send the request again", {
      kind: "bad-request",
    });
  } finally {
    clearTimeout(timer);
  }
}

export function inputSource(label: string, value: unknown): NonNullable<AskOptions["context"]> {
  const json = typeof value !== "string";
  const text = json ? JSON.stringify(value) : value;
  return {
    label: `${label} of the request`,
    json,
    encoding: "utf-8",
    pieces: ReadableStream.from([new TextEncoder().encode(text)]),
  };
}
