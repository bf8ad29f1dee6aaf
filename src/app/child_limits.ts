import type { Settings } from "./settings.ts";

/** How `sandbox.live` is divided: spares have their places among the children that may live, and leave at least one to
 * conversations. No spare goes through a launcher. */
export function childLimits({ live, spare, launcher }: Settings["config"]["sandbox"]): {
  readonly spare: number;
  /** For conversations. */
  readonly live: number;
} {
  const kept = launcher.length > 0 ? 0 : Math.min(spare, live - 1);
  return { spare: kept, live: live - kept };
}
