import type { Conversation, SendOptions } from "../../conversation/conversations.ts";
import { oneLine } from "../../domain/clip.ts";
import type { QueryEvent } from "../../domain/query_event.ts";
import type { QueryResult } from "../../domain/query_result.ts";
import type { Io, OpenRequest, Services, Session } from "../channel.ts";
import { exitCodeOf, hasAnswer } from "./exit_code.ts";
import { Progress } from "./progress.ts";
import { readContextArgument } from "./read_context_argument.ts";
import { readImageArgument } from "./read_image_argument.ts";
import { readSchema } from "./read_schema.ts";
import { terminalText } from "./terminal_text.ts";

export interface RunFlags extends OpenRequest {
  readonly continue?: boolean | undefined;
  readonly conversation?: string | undefined;
  readonly output: "text" | "json" | "jsonl";
  readonly image?: readonly string[] | undefined;
  readonly schema?: string | undefined;
  readonly context?: string | undefined;
  readonly quiet: boolean;
  readonly verbose: boolean;
}

/** `vis run`: one query. The answer alone goes to stdout. Resolves with the exit code. */
export async function runCommand(
  prompt: string,
  { services, io, flags }: { readonly services: Services; readonly io: Io; readonly flags: RunFlags },
): Promise<number> {
  const given = await readGiven(flags);
  const session = await services.open({ ...flags, soon: true });
  const progress = new Progress(io, { verbose: flags.verbose });
  const controller = new AbortController();
  const stop = io.onInterrupt(() => controller.abort());
  try {
    await session.conversations.check(given);
    const branch = await chooseBranch(prompt, { session, flags });
    if (!flags.quiet) await announce(progress, { session, branch, flags });
    const result = await session.conversations.send(branch, prompt, {
      signal: controller.signal,
      refuseWhenBusy: true,
      ...given,
      emit: (event) => show(event, { io, flags, progress }),
    });
    progress.clear();
    print(result, { io, flags });
    if (!isAnswer(result, flags)) io.stderr(`vis: ${terminalText(result.answer)}\n`);
    if (!flags.quiet) progress.line(summary(result));
    return exitCodeOf(result);
  } finally {
    stop();
    await session.close();
  }
}

type Given = Pick<SendOptions, "images" | "responseSchema" | "context">;

/** What comes with the request beside its text; read before anything is opened. */
async function readGiven({ image = [], schema, context }: RunFlags): Promise<Given> {
  const images = [];
  for (const one of image) images.push(await readImageArgument(one));
  return {
    images,
    ...(schema === undefined ? {} : { responseSchema: await readSchema(schema) }),
    ...(context === undefined ? {} : { context: await readContextArgument(context) }),
  };
}

/** With a schema only what satisfies it is one: whoever reads stdout can rely on it. */
function isAnswer(result: QueryResult, { schema }: RunFlags): boolean {
  return hasAnswer(result) && (schema === undefined || result.value !== undefined);
}

function show(
  event: QueryEvent,
  { io, flags, progress }: { readonly io: Io; readonly flags: RunFlags; readonly progress: Progress },
): void {
  if (flags.output === "jsonl") io.stdout(`${JSON.stringify(event)}\n`);
  if (!flags.quiet) progress.show(event);
}

async function chooseBranch(
  prompt: string,
  { session, flags }: { readonly session: Session; readonly flags: RunFlags },
): Promise<Conversation> {
  const { conversations, workspace } = session;
  if (flags.conversation) return await conversations.byId(flags.conversation);
  const latest = flags.continue ? await conversations.latest(workspace) : null;
  return latest ?? await conversations.create({ title: prompt, channel: "cli", workspace });
}

async function announce(
  progress: Progress,
  { session, branch, flags }: { readonly session: Session; readonly branch: Conversation; readonly flags: RunFlags },
): Promise<void> {
  const resumed = flags.continue || flags.conversation ? await session.conversations.queries(branch) : [];
  const last = resumed.at(-1);
  if (last?.reason === "process_lost") progress.line(`The last query was interrupted: ${oneLine(last.answer, 200)}`);
  const of = `${session.provider} ${session.model} · conversation ${branch.conversationId.slice(0, 13)}`;
  progress.line(`vis · ${of}${resumed.length > 0 ? ` · ${resumed.length} earlier` : ""}`);
  for (const note of session.notes ?? []) progress.line(`vis · ${terminalText(oneLine(note, 300))}`);
}

function print(result: QueryResult, { io, flags }: { readonly io: Io; readonly flags: RunFlags }): void {
  if (flags.output === "json") io.stdout(`${JSON.stringify(result, null, 2)}\n`);
  if (flags.output === "text" && isAnswer(result, flags)) {
    const answer = io.stdoutIsTerminal ? terminalText(result.answer) : result.answer;
    io.stdout(answer.endsWith("\n") ? answer : `${answer}\n`);
  }
}

function summary(result: QueryResult): string {
  const { iterations, usage, costUsd, ms, reason, status } = result;
  const parts = [
    `${iterations} iteration${iterations === 1 ? "" : "s"}`,
    `${(ms / 1000).toFixed(1)} s`,
    `${usage.input} in + ${usage.output} out tokens`,
  ];
  if (costUsd !== null && costUsd > 0) parts.push(`$${costUsd.toFixed(4)}`);
  if (status !== "done") parts.unshift(`${status}: ${reason}`);
  return `${parts.join(" · ")}${result.notes.length > 0 ? `\n${result.notes.join("\n")}` : ""}`;
}
