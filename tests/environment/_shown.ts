import type { Engine } from "../helpers/engine.ts";

/** What each block came to, in order: its preview or its error. Of one query where that is named. */
export function shown({ events }: Pick<Engine, "events">, queryId?: string): string[] {
  return events.flatMap((event) => {
    if (event.type !== "block_finished" || (queryId !== undefined && event.queryId !== queryId)) return [];
    const { ok, preview, error } = event.result;
    return [ok ? preview : `${error?.name}: ${error?.message}`];
  });
}
