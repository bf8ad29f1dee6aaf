import { type Context, Hono } from "hono";
import type { z } from "zod";
import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskOptions } from "../../../conversation/ask_options.ts";
import { readImage } from "../../../domain/images.ts";
import { approvalChoices, type Approve } from "../../../domain/query/approval.ts";
import { type QueryResult, QueryResultSchema } from "../../../domain/query/query_schemas.ts";
import type { RequestKey, StoredQuery } from "../../../domain/query/stored_query.ts";
import type { Leaving } from "../connections.ts";
import type { Env } from "../http_parts.ts";
import { CONVERSATION_HEADER, eventStream, eventTexts, FollowedQuery, textStream } from "../followed_query.ts";
import { Problem } from "../problem.ts";
import type { OnceOptions, StartedQuery } from "../repeated_requests.ts";
import {
  describeIn,
  EVENT_STREAM,
  findQuery,
  inConversation,
  inputSource,
  inQuery,
  servedWorkspace,
  validJson,
} from "../route.ts";
import { callerLabel, type TokenGrant } from "../tokens.ts";
import * as schema from "./schemas.ts";

const KEY_HEADER = {
  "Idempotency-Key":
    "Repeated requests with the same key and body start only one query; the server remembers a key for a day",
};
const RESUME_HEADER = {
  "X-Vis-Resume":
    "With true, resume the query that the key started, if its process crashed or exited. The key then refers to " +
    "the resumed query",
};
const RETRY =
  "Run a query again with the variables from before it; files stay as they are. Clients can still read the previous run. The header " +
  "X-Vis-Conversation names the branch of the run. If the query is the last one of its branch and not inherited, the run stays there; otherwise the run gets a new branch";
const describe = describeIn("messages");

type Message = z.infer<typeof schema.MessageBody>;

export const messages = new Hono<Env>();

messages.post(
  "/messages",
  describe("sendMessage", "Send a message and run a query", {
    scope: "write",
    headers: { ...KEY_HEADER, ...RESUME_HEADER },
    200: [QueryResultSchema, EVENT_STREAM],
    202: schema.SteeredSchema,
    errors: [409, 422],
  }),
  validJson(schema.MessageBody),
  inConversation,
  async (c) => {
    const body = c.req.valid("json");
    const { conversation } = c.var;
    servedWorkspace(c.env.parts, conversation.workspace);
    const sent = await c.env.once.once(c.req.header("idempotency-key") ?? null, {
      ...onceFor(c, "send"),
      work: (requestKey) => begin(c, { body, conversation, requestKey }),
      ...(c.req.header("x-vis-resume") === "true" ? { resume: (sent, key) => resume(c, { body, sent, key }) } : {}),
    });
    if (sent === null) return c.json({ steered: true }, 202);
    return await answer(c, { queryId: sent.queryId, cancelOnDisconnect: body.cancelOnDisconnect === true });
  },
);

messages.post(
  "/retry",
  describe("retryQuery", RETRY, {
    scope: "write",
    headers: KEY_HEADER,
    200: [QueryResultSchema, EVENT_STREAM],
    errors: [409, 422],
  }),
  validJson(schema.RetryBody),
  inConversation,
  async (c) => {
    const { queryId, more: goesOn = false, approvals, ...choices } = c.req.valid("json");
    const { caller } = c.var;
    const work = async (requestKey: RequestKey | undefined): Promise<StartedQuery> => {
      const query = await findQuery(c, queryId);
      const { conversations } = c.env.parts;
      const { conversation } = c.var;
      if (goesOn) await checkLast(c, query);
      await c.env.models.check(choices.model, conversations);
      const given = chosen(choices, caller);
      await conversations.check(given);
      const more = { requestKey, label: callerLabel("http", caller), showsOutput: true, ...given };
      return await c.env.runs.begin(
        (options, approve) => {
          const all = { ...options, ...more, approve: asking(approvals, approve) };
          return goesOn
            ? conversations.more(conversation, { ...all, refuseWhenBusy: true })
            : conversations.retry(queryId, { ...all, seenFrom: conversation });
        },
        { caller, leaving: leavingOf(c) },
      );
    };
    const sent = await c.env.once.once(c.req.header("idempotency-key") ?? null, { ...onceFor(c, "retry"), work });
    return await answer(c, { queryId: sent?.queryId ?? "" });
  },
);

async function checkLast(c: Context<Env>, { queryId, branchId }: StoredQuery): Promise<void> {
  const { conversations } = c.env.parts;
  const { conversation } = c.var;
  const isLastOf = async (branch: Conversation) => (await conversations.queries(branch)).at(-1)?.queryId === queryId;
  if (await isLastOf(conversation)) return;
  const isElsewhere = branchId !== conversation.branchId && await isLastOf(await conversations.byId(branchId));
  throw new Problem(
    `Cannot continue request ${queryId}: it is not the last request of branch ${conversation.branchId}; ` +
      (isElsewhere
        ? `send the call to branch ${branchId}, which ends with this request`
        : "fork the conversation at this request first"),
    { kind: "bad-request" },
  );
}

messages.get(
  "/queries/:queryId/events",
  describe(
    "followQuery",
    "Stream the events of a query after Last-Event-ID; a stream that begins with the event started replaces all events received before",
    {
      headers: { "Last-Event-ID": "Id of the last event received" },
      200: EVENT_STREAM,
      204: [],
    },
  ),
  inQuery,
  async (c) => {
    const query = await FollowedQuery.find(c.var.query.queryId, c.env);
    const lastId = c.req.header("last-event-id") ?? "";
    // Status 204 stops an `EventSource` from connecting again.
    if (lastId !== "" && !query.running && (await query.events(lastId).next()).done) return c.body(null, 204);
    const { heartbeatMs } = c.env.parts.limits;
    return eventStream(eventTexts(query.events(lastId)), { heartbeatMs, left: () => query.leave() });
  },
);

messages.get(
  "/approvals",
  describe(
    "listApprovals",
    "List the questions of running queries that wait for an answer, also in other processes",
    {
      200: schema.ApprovalListSchema,
    },
  ),
  inConversation,
  async (c) => c.json({ items: [...await c.env.runs.questions(c.var.conversation.conversationId)] }),
);

messages.post(
  "/approvals/:approvalId",
  describe("answerApproval", "Answer a question; the first answer counts", {
    scope: "write",
    200: schema.ApprovalBody,
  }),
  validJson(schema.ApprovalBody),
  inConversation,
  async (c) => {
    const body = c.req.valid("json");
    const id = c.req.param("approvalId");
    const { conversationId, workspace } = c.var.conversation;
    servedWorkspace(c.env.parts, workspace);
    const question = (await c.env.runs.questions(conversationId)).find((one) => one.id === id);
    const choices = question && approvalChoices(question).map(({ decision }) => decision);
    if (choices && !choices.includes(body.decision)) {
      throw new Problem(
        `Cannot accept the decision "${body.decision}": Vis asks this question every time; send "once" or "no"`,
        {
          kind: "bad-request",
        },
      );
    }
    if (await c.env.runs.answer(conversationId, id, body)) return c.json(body);
    throw new Problem(
      `Cannot answer question ${
        id.slice(0, 100)
      }: no open question of the conversation has this id, so somebody may have answered it; list the open questions again`,
      {
        kind: "not-found",
      },
    );
  },
);

function onceFor(c: Context<Env>, what: string): Omit<OnceOptions, "work"> {
  const { conversation, bodyText: body } = c.var;
  const stored = (key: string) => c.env.parts.conversations.stored.keyedQuery(conversation.branchId, key);
  // An address can name the conversation by a prefix or a branch, and after a retry `conversation` is a newer branch.
  return { conversation, what: `${what} ${conversation.conversationId}`, body, stored };
}

async function resume(
  c: Context<Env>,
  { body, sent, key }: { readonly body: Message; readonly sent: StartedQuery; readonly key: RequestKey },
): Promise<StartedQuery> {
  const { conversations } = c.env.parts;
  const query = sent && await conversations.records.query(sent.queryId);
  if (query?.status !== "interrupted" || query.reason === "cancelled" && !query.temporary) return sent;
  const conversation = await conversations.byId(query.branchId);
  // After the first iteration, the database has the context.
  const { context, ...rest } = body;
  return await begin(c, {
    body: query.iterations > 0 ? rest : { ...rest, context },
    conversation,
    requestKey: { ...key, replaces: query.queryId },
  });
}

async function begin(
  c: Context<Env>,
  { body, conversation, requestKey }: {
    readonly body: Message;
    readonly conversation: Conversation;
    readonly requestKey: RequestKey | undefined;
  },
): Promise<StartedQuery> {
  const { conversations } = c.env.parts;
  const { caller } = c.var;
  const given = optionsOf(body, caller);
  // An invalid request must not use up the quota of the token.
  await conversations.check({ request: body.request });
  if (body.whenBusy === "steer") {
    if (await steered(c, { body, conversation })) return null;
    // The query that did not take the text may still count for the quota of the token.
    await c.env.runs.ended(conversation.branchId);
  }
  await c.env.models.check(body.model, conversations);
  await conversations.check(given);
  const refuseWhenBusy = body.whenBusy === "refuse";
  const label = callerLabel("http", caller);
  const more = { ...given, requestKey, label, refuseWhenBusy, showsOutput: true };
  // A client of `steer` does not wait for a result, even if its message begins a query.
  const canCancel = body.cancelOnDisconnect ?? body.whenBusy !== "steer";
  return await c.env.runs.begin(
    (options, approve) =>
      conversations.ask(conversation, body.request, { ...options, ...more, approve: asking(body.approvals, approve) }),
    { caller, leaving: canCancel ? leavingOf(c) : null },
  );
}

async function steered(
  c: Context<Env>,
  { body, conversation }: { readonly body: Message; readonly conversation: Conversation },
): Promise<boolean> {
  const { conversations } = c.env.parts;
  const more = OF_A_QUERY.filter((key) => body[key] !== undefined && body[key] !== false);
  if (more.length === 0) return await conversations.steer(conversation, body.request);
  const running = await conversations.records.running(conversation.conversationId);
  const query = running === null ? null : await conversations.records.query(running);
  if (query?.branchId !== conversation.branchId) return false;
  throw new Problem(
    `Cannot steer the running request with ${more.join(", ")}: a message to a running request has only text; ` +
      "leave the other fields out, or set whenBusy to wait",
    { kind: "bad-request" },
  );
}

const OF_A_QUERY = [
  ...["images", "context", "responseSchema", "plan", "review"] as const,
  ...Object.keys(schema.ChoicesSchema.shape) as (keyof typeof schema.ChoicesSchema.shape)[],
] as const;

/** Without a key or events, a client that leaves cannot get its result later. */
function leavingOf(c: Context<Env>): Leaving | null {
  return c.req.header("idempotency-key") !== undefined || wantsEvents(c) ? null : c.env.leaving;
}

function asking(approvals: Message["approvals"], approve: Approve): Approve | undefined {
  return approvals === "ask" ? approve : undefined;
}

function optionsOf({ images = [], context, responseSchema, plan, review, ...choices }: Message, caller: TokenGrant) {
  if (plan && review) {
    throw new Problem("Cannot use plan with review: they exclude each other; send only one of them", {
      kind: "bad-request",
    });
  }
  return {
    ...chosen(choices, caller),
    images: images.map((image, at) => readImage(image, `${at + 1}`)),
    context: context === undefined ? undefined : inputSource("context", context),
    responseSchema,
    only: review ? "review" as const : plan ? "plan" as const : undefined,
  } satisfies Partial<AskOptions>;
}

function chosen(
  { reasoning, maxIterations, model, maxCostUsd, timeoutMs }: z.infer<typeof schema.ChoicesSchema>,
  { quota }: Pick<TokenGrant, "quota">,
) {
  const limits = { costUsd: maxCostUsd ?? null, wallMs: timeoutMs ?? null, priced: quota.costUsdPerDay !== null };
  return { reasoning, maxIterations, model, limits } satisfies Partial<AskOptions>;
}

async function answer(
  c: Context<Env>,
  { queryId, cancelOnDisconnect = false }: { readonly queryId: string; readonly cancelOnDisconnect?: boolean },
): Promise<Response> {
  const query = await FollowedQuery.find(queryId, c.env);
  const { heartbeatMs } = c.env.parts.limits;
  const headers = { [CONVERSATION_HEADER]: await query.branchId() };
  const left = (): void => {
    query.leave();
    if (cancelOnDisconnect) query.run?.cancel();
  };
  if (wantsEvents(c)) {
    return eventStream(eventTexts(query.events(c.req.header("last-event-id"))), { headers, heartbeatMs, left });
  }
  if (query.run === null && query.running) {
    const result = query.result();
    result.catch(() => {});
    // Writing white space shows whether the client has left.
    const body = textStream(resultText(result), { heartbeatMs, alive: " ", left });
    return c.body(body, 200, { ...headers, "content-type": "application/json; charset=utf-8" });
  }
  // The status depends on the result, so Vis sends nothing before the result.
  const stay = cancelOnDisconnect ? c.env.leaving(left) : () => {};
  try {
    return c.json(await query.result(), 200, headers);
  } finally {
    stay();
  }
}

/** The server sends the headers only with the first text, so the first text is white space. */
async function* resultText(ended: Promise<QueryResult>): AsyncGenerator<string> {
  yield " ";
  yield JSON.stringify(await ended);
}

function wantsEvents(c: Context<Env>): boolean {
  return /text\/event-stream/i.test(c.req.header("accept") ?? "");
}
