import { NO_GRANTS } from "../../sandbox/grants.ts";
import { startSandbox } from "./open_session.ts";

/** Throws `ConfigError` where a wall does not hold: a locked server that could run no block is not to begin. */
export async function tryWalls(
  settings: Parameters<typeof startSandbox>[1],
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const nothing = {
    functions: [],
    constants: {},
    grants: NO_GRANTS,
    onCall: () => Promise.resolve(null),
    ...(signal ? { signal } : {}),
  };
  await (await startSandbox(nothing, settings)).close();
}
