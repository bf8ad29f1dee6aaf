import { messageOf } from "../../domain/errors.ts";
import type { Clock } from "../../domain/kit/time.ts";
import type { Log } from "../../logging/log.ts";
import { answerInTime, TookTooLong } from "../answer_in_time.ts";
import type { EnvironmentView, NudgeContext } from "../spec.ts";
import type { NormalExtension } from "../validate_extension.ts";
import { scopeOf } from "./log_scope.ts";
import type { ExtensionFault } from "./registry.ts";

const MAX_CHARS = 200;

/** Makes an extension's nudge safe: it is called only while the extension is active, errors are logged, and the result
 * is one line of bounded length or null. One that took too long is not called again, since every step would wait. */
export function ownNudge(
  extension: NormalExtension,
  { log, clock, view, faults }: {
    readonly log: Log;
    readonly clock: Pick<Clock, "sleep">;
    readonly view: (env: EnvironmentView) => EnvironmentView;
    /** Takes what throws. */
    readonly faults: ExtensionFault[];
  },
): { readonly namespace: string; nudge(ctx: NudgeContext): Promise<string | null> } {
  const { namespace } = extension;
  let isSlow = false;
  return {
    namespace,
    async nudge(ctx) {
      if (isSlow) return null;
      try {
        const environment = view(ctx.environment);
        const asked = async (): Promise<unknown> =>
          await extension.activate(environment) ? await extension.nudge?.({ ...ctx, environment }) : null;
        const said = await answerInTime(asked, { clock });
        if (typeof said !== "string" || said.trim() === "") return null;
        const line = said.trim().replace(/\s*[\r\n]+\s*/g, " ");
        if (line.length <= MAX_CHARS) return line;
        log.warn("extension.nudge_cut", {
          ext: namespace,
          phase: "nudge",
          chars: line.length,
          ...scopeOf(ctx.environment),
        });
        return `${line.slice(0, MAX_CHARS - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
      } catch (error) {
        isSlow = error instanceof TookTooLong;
        faults.push({ namespace, phase: "nudge", error });
        const scope = scopeOf(ctx.environment);
        log.warn("extension.failed", { ext: namespace, phase: "nudge", error: messageOf(error), ...scope });
        return null;
      }
    },
  };
}
