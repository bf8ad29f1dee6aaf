import { localTime, oneLine, visibleText } from "../../../domain/kit/text.ts";
import type { SearchHit, SearchKind } from "../../../domain/records/history.ts";
import { browse } from "../conversations/browse.ts";
import type { CommandInput } from "../input/command_input.ts";
import { foundLines } from "../output/found_lines.ts";
import { jsonText } from "../output/json_text.ts";

export interface SearchFlags {
  readonly conversation?: string | undefined;
  readonly kind?: SearchKind | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly limit: number;
  readonly db?: string | undefined;
  readonly json: boolean;
}

/** `vis search`: two lines per match, best first; on a terminal by conversation. Resolves with 1 if there are no matches. */
export async function searchCommand(
  words: readonly string[],
  { services, io, flags }: CommandInput<SearchFlags>,
): Promise<number> {
  const { kind, since, until, limit } = flags;
  const text = words.join(" ");
  return await browse({ services, flags }, async ({ conversations }) => {
    const within = flags.conversation === undefined ? null : await conversations.byId(flags.conversation);
    const filter = { kind, since, until, limit, conversationId: within?.conversationId };
    const hits = await conversations.stored.search(text, filter);
    if (flags.json) io.stdout(jsonText(hits, { indent: 2 }));
    else if (io.stdoutIsTerminal) {
      for (const line of foundLines(hits, { text, io, now: Date.now() })) io.stdout(`${line}\n`);
    } else for (const hit of hits) io.stdout(`${visibleText(lines(hit))}\n`);
    if (hits.length === 0) io.stderr("No results\n");
    return hits.length === 0 ? 1 : 0;
  });
}

function lines({ at, conversationId, kind, position, title, variable, snippet }: SearchHit): string {
  const when = localTime(at);
  const where = [
    kind,
    ...(position === null ? [] : [`step ${position + 1}`]),
    ...(variable === null ? [] : [variable]),
  ].join(" · ");
  return `${conversationId}  ${when}  ${where}  ${oneLine(title, 60)}\n  ${oneLine(snippet, 400)}`;
}
