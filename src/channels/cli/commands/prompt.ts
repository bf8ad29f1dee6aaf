import type { Conversation } from "../../../conversation/conversations.ts";
import { UsageError } from "../../../domain/errors.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import type { SentMessage } from "../../../domain/query/model_call.ts";
import { shownRange } from "../../../domain/query/stored_query.ts";
import type { Io, OpenRequest, Session } from "../../channel.ts";
import { jsonText } from "../output.ts";
import type { CommandInput } from "../program/command.ts";
import { withSession } from "./with_session.ts";

export interface PromptFlags extends OpenRequest {
  readonly conversation?: string | undefined;
  /** 1-based. */
  readonly iteration?: number | undefined;
  readonly json: boolean;
}

/** `vis prompt`: the messages that a request would send first, or the prompt of a stored iteration. Nothing is sent or
 * stored. Resolves with the exit code. */
export async function promptCommand(
  prompt: string,
  { services, io, flags }: CommandInput<PromptFlags>,
): Promise<number> {
  if (flags.iteration !== undefined && flags.conversation === undefined) {
    throw new UsageError("Cannot show a step: --iteration needs --conversation");
  }
  const asked = prompt.trim() !== "";
  if (asked && flags.iteration !== undefined) {
    throw new UsageError("Cannot show both a request and a stored step: omit the request or --iteration");
  }
  if (!asked && flags.conversation === undefined) {
    throw new UsageError('Cannot show the prompt of an empty request: write one, such as vis prompt "List the routes"');
  }
  // A stored prompt can be shown without a provider.
  return await withSession(services.open(asked ? flags : { ...flags, browse: true }), async (session) => {
    const branch = flags.conversation !== undefined ? await session.conversations.byId(flags.conversation) : null;
    const messages = branch && !asked
      ? await stored(session, { branch, iteration: flags.iteration })
      : await session.conversations.preview(prompt, branch ? { branch } : { workspace: session.workspace });
    print(messages, { io, json: flags.json });
    return 0;
  });
}

/** From the newest query: the requested iteration, by default its last. */
async function stored(
  { conversations }: Session,
  { branch, iteration }: { readonly branch: Conversation; readonly iteration: number | undefined },
): Promise<readonly SentMessage[]> {
  const query = (await conversations.queries(branch)).at(-1);
  if (!query) throw new UsageError(`Cannot show a step: conversation ${branch.conversationId} has no requests yet`);
  const rows = await conversations.iterations(query.queryId, shownRange(query));
  const row = iteration === undefined ? rows.at(-1) : rows[iteration - 1];
  const found = row && await conversations.sentMessages(query.queryId, row.position);
  if (found) return found;
  const has = rows.length === 0 ? "it has no steps" : `it has steps 1 to ${rows.length}`;
  throw new UsageError(`Cannot show step ${iteration ?? 1} of the latest request: ${has}`);
}

function print(messages: readonly SentMessage[], { io, json }: { readonly io: Io; readonly json: boolean }): void {
  const sized = messages.map(({ role, text }) => ({ role, ...sizeOf(text), text }));
  const total = {
    bytes: sized.reduce((sum, { bytes }) => sum + bytes, 0),
    tokens: sized.reduce((sum, { tokens }) => sum + tokens, 0),
  };
  if (json) return io.stdout(jsonText({ ...total, messages: sized }, { indent: 2 }));
  for (const [at, { role, bytes, tokens, text }] of sized.entries()) {
    const shown = io.stdoutIsTerminal ? visibleText(text) : text;
    io.stdout(`=== ${at + 1} ${role}: ${bytes} bytes, about ${tokens} tokens\n${shown}\n\n`);
  }
  io.stdout(`=== ${sized.length} messages: ${total.bytes} bytes, about ${total.tokens} tokens\n`);
}

/** Estimates four characters per token: no tokenizer fits all models. */
function sizeOf(text: string): { readonly bytes: number; readonly tokens: number } {
  return { bytes: new TextEncoder().encode(text).length, tokens: Math.ceil(text.length / 4) };
}
