import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskOptions, AskTarget } from "../../../conversation/send_options.ts";
import { UsageError } from "../../../domain/errors.ts";
import { oneLine, visibleText } from "../../../domain/kit/text.ts";
import type { QueryResult } from "../../../domain/query/query_schemas.ts";
import type { OpenRequest, Session } from "../../channel.ts";
import type { Progress } from "../ask/progress.ts";
import { type QueryCommandFlags, runQueryCommand } from "../ask/run_query_command.ts";
import { withSession } from "../conversations/browse.ts";
import type { CommandInput } from "../input/command_input.ts";
import { readContextArgument } from "../input/context_argument.ts";
import { forkPoint } from "../input/fork_at.ts";
import { readImageArgument } from "../input/image_argument.ts";
import { readSchema } from "../input/read_schema.ts";

export interface RunFlags extends OpenRequest, QueryCommandFlags {
  readonly continue?: boolean | undefined;
  readonly conversation?: string | undefined;
  /** ID or ID@ITERATION. */
  readonly fork?: string | undefined;
  readonly image?: readonly string[] | undefined;
  readonly schema?: string | undefined;
  readonly context?: string | undefined;
  readonly plan?: boolean | undefined;
  /** US dollars. */
  readonly maxCost?: number | undefined;
  /** Milliseconds. */
  readonly timeout?: number | undefined;
}

/** `vis run`: one query. Only the answer goes to stdout. Resolves with the exit code. */
export async function runCommand(
  prompt: string,
  { services, io, flags }: CommandInput<RunFlags>,
): Promise<number> {
  checkWhere(flags);
  const { context, ...given } = await readGiven(flags);
  const opening = services.open({ ...flags, oneRequest: true, maxCostUsd: flags.maxCost, timeoutMs: flags.timeout });
  const code = await withSession(opening, (session) =>
    runQueryCommand({
      io,
      flags,
      schema: flags.schema !== undefined,
      traceOf: (result) => traceOf(result, session),
      begin: async (options, progress) => {
        const onBranch = async (branch: Conversation): Promise<void> => {
          if (!flags.quiet) await announce(progress, { session, branch, flags });
        };
        const target = await targetOf(session, flags);
        return await session.conversations.ask(target, prompt, {
          ...options,
          refuseWhenBusy: true,
          plan: flags.plan === true,
          onBranch,
          ...given,
          context: context?.(options.signal),
        });
      },
    }));
  if (flags.plan && code === 0 && !flags.quiet) {
    io.stderr('Nothing was changed: vis run -c "go" carries the plan out\n');
  }
  return code;
}

function checkWhere({ continue: newest, conversation, fork }: RunFlags): void {
  const given = [newest ? "-c" : null, conversation && "--conversation", fork && "--fork"].filter(Boolean);
  if (given.length > 1) throw new UsageError(`Cannot continue in two places: use only one of ${given.join(" and ")}`);
}

type Given = Pick<AskOptions, "images" | "responseSchema"> & {
  readonly context: Awaited<ReturnType<typeof readContextArgument>> | undefined;
};

/** Input besides the text of the request; read before anything is opened. */
async function readGiven({ image = [], schema, context }: RunFlags): Promise<Given> {
  const images = [];
  for (const one of image) images.push(await readImageArgument(one));
  return {
    images,
    responseSchema: schema === undefined ? undefined : await readSchema(schema),
    context: context === undefined ? undefined : await readContextArgument(context),
  };
}

async function targetOf({ conversations, workspace }: Session, flags: RunFlags): Promise<AskTarget> {
  if (flags.fork) return await forkPoint(conversations, flags.fork);
  if (flags.conversation) return await conversations.byId(flags.conversation);
  const latest = flags.continue ? await conversations.latest(workspace) : null;
  return latest ?? { channel: "cli", workspace };
}

async function traceOf({ queryId, conversationId }: QueryResult, { conversations }: Session): Promise<object | null> {
  const { queries } = await conversations.recording(await conversations.byId(conversationId));
  const query = queries.find((one) => one.queryId === queryId);
  return query ? (await import("../output/printable_query.ts")).printableQuery(query) : null;
}

async function announce(
  progress: Progress,
  { session, branch, flags }: { readonly session: Session; readonly branch: Conversation; readonly flags: RunFlags },
): Promise<void> {
  const resumed = flags.continue || flags.conversation || flags.fork ? await session.conversations.queries(branch) : [];
  const last = resumed.at(-1);
  if (last?.running) progress.line("The last request is still running in another process");
  if (last?.reason === "process_lost") {
    const again = last.iterations === 0 ? " It had no reply yet: pass --context again if you used it." : "";
    progress.line(`The last request was interrupted: ${oneLine(last.answer, 200)}${again}`);
  }
  const of = `${session.provider} ${session.model} · conversation ${branch.conversationId.slice(0, 13)}`;
  progress.line(`vis · ${of}${resumed.length > 0 ? ` · ${resumed.length} earlier` : ""}`);
  for (const note of session.notes ?? []) progress.line(`vis · ${visibleText(oneLine(note, 300))}`);
}
