import type { Context } from "hono";
import type { AskTarget } from "../../../conversation/send_options.ts";
import type { QueryResult } from "../../../domain/query/query_result.ts";
import { callerLabel } from "../auth/caller_label.ts";
import { eventStream } from "../stream/event_stream.ts";
import { CONVERSATION_HEADER } from "./conversation.ts";
import { openAiFailure } from "./failure.ts";
import type { OpenAiInput } from "./input.ts";
import type { Env } from "../request/env.ts";
import type { Begun, LiveRun } from "../stream/run.ts";

interface OpenAiAsked {
  readonly target: AskTarget;
  readonly request: string;
  readonly given: OpenAiInput;
  readonly stream: boolean;
  /** The server-sent events of a query, for a client that streams. */
  readonly events: (run: LiveRun, begun: Begun) => AsyncGenerator<string>;
  /** The body, once the query has an answer. */
  readonly whole: (result: QueryResult, begun: Begun) => object | Promise<object>;
}

/** Runs a query for a client of OpenAI's API; the query ends when the call does. Throws `Problem` for a query without
 * an answer. */
export async function openAiAsk(
  c: Context<Env>,
  { target, request, given, events, whole, stream }: OpenAiAsked,
): Promise<Response> {
  const { parts, runs, leaving } = c.env;
  const { caller } = c.var;
  const more = { ...given, label: callerLabel("openai", caller), refuseWhenBusy: true };
  const { run, ...begun } = await runs.begin(
    (options) => parts.conversations.ask(target, request, { ...options, ...more }),
    { caller, leaving },
  );
  const headers = { [CONVERSATION_HEADER]: begun.branchId };
  const { heartbeatMs } = parts.limits;
  if (stream) return eventStream(events(run, begun), { headers, heartbeatMs, left: () => run.cancel() });
  const result = await run.ended;
  const failure = openAiFailure(result);
  if (failure) throw failure;
  return c.json(await whole(result, begun), 200, headers);
}
