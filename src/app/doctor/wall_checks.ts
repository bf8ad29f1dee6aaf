import type { CheckResult } from "../../channels/channel.ts";
import type { WallName } from "../../sandbox/missing_walls.ts";
import type { WallProbe } from "../../sandbox/host/probe_walls.ts";

/** The state of the walls and its meaning: a wall that this system lacks is not a fault, unless the settings require
 * it. */
export function wallChecks(
  probes: readonly WallProbe[],
  { require, os }: { readonly require: readonly WallName[]; readonly os: typeof Deno.build.os },
): readonly CheckResult[] {
  const optional: readonly WallName[] = os === "linux" ? ["kernel"] : ["kernel", "process"];
  return probes.map(({ wall, holds, found }) => {
    const required = require.includes(wall);
    const fix = holds ? "" : `${found.fix}${required ? "; sandbox.require names it, so no block runs" : ""}`;
    const state = holds ? "ok" : optional.includes(wall) && !required ? "warn" : "fail";
    return { name: `wall: ${wall}`, state, found: found.text, fix };
  });
}
