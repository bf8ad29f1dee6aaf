import { UsageError } from "../../../domain/errors.ts";
import { oneLine, visibleText } from "../../../domain/kit/text.ts";
import type { OpenRequest } from "../../channel.ts";
import { type QueryCommandFlags, runQueryCommand } from "../ask/run_query_command.ts";
import type { CommandInput } from "../input/command_input.ts";
import { withSession } from "./browse.ts";

export interface RetryFlags extends OpenRequest, QueryCommandFlags {
  /** 1-based; the last one if omitted. */
  readonly query?: number | undefined;
}

/** `vis conversations retry`: runs a query again from the state before it, in a fork if other queries follow it. Shows
 * it like `vis run`. */
export async function retryCommand(
  id: string,
  { services, io, flags }: CommandInput<RetryFlags>,
): Promise<number> {
  return await withSession(services.open(flags), async (session) => {
    const { conversations } = session;
    const branch = await conversations.byId(id);
    const queries = await conversations.queries(branch);
    const query = queries.at(flags.query === undefined ? -1 : flags.query - 1);
    if (!query) {
      throw new UsageError(`Cannot retry request ${flags.query ?? 1}: the conversation has ${queries.length}`);
    }
    return await runQueryCommand({
      io,
      flags,
      schema: false,
      begin: async (options, progress) => {
        const which = `request ${queries.indexOf(query) + 1} of ${branch.conversationId.slice(0, 13)}`;
        if (!flags.quiet) {
          progress.line(`vis · ${session.provider} ${session.model} · retrying ${which}`);
          progress.line(visibleText(oneLine(query.text, 200)));
        }
        return await conversations.retry(query.queryId, { ...options, seenFrom: branch });
      },
    });
  });
}
