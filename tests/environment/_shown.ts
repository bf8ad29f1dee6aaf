import type { Engine } from "../helpers/engine.ts";

/** Returns the preview or the error of each block, in order. With `queryId`, it returns only the blocks of that
 * query. */
export function shown({ events }: Pick<Engine, "events">, queryId?: string): string[] {
  return events.flatMap((event) => {
    if (event.type !== "block_finished" || (queryId !== undefined && event.queryId !== queryId)) return [];
    const { ok, preview, error } = event.result;
    return [ok ? preview : `${error?.name}: ${error?.message}`];
  });
}
