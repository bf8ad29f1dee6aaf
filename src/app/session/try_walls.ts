import { NO_GRANTS } from "../../sandbox/grants.ts";
import { startSandbox } from "./open_session.ts";

/** Throws `ConfigError` if a wall does not work: a locked server that cannot run blocks must not start. */
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
