import { messageOf } from "../../domain/kit/message_of.ts";
import type { Log } from "../../logging/log.ts";
import { scopeOf } from "./log_scope.ts";
import type { ExtensionFault } from "./registry.ts";
import type { EnvironmentView, NudgeContext } from "../spec.ts";
import type { NormalExtension } from "../validate_extension.ts";

const MAX_CHARS = 200;

/** Makes an extension's nudge safe: it is called only while the extension is active, errors are logged, and the result
 * is one line of bounded length or null. */
export function ownNudge(
  extension: NormalExtension,
  { log, view, faults }: {
    readonly log: Log;
    readonly view: (env: EnvironmentView) => EnvironmentView;
    /** Takes what throws. */
    readonly faults: ExtensionFault[];
  },
): { readonly namespace: string; nudge(ctx: NudgeContext): Promise<string | null> } {
  const { namespace } = extension;
  return {
    namespace,
    async nudge(ctx) {
      try {
        const environment = view(ctx.environment);
        if (!extension.nudge || !(await extension.activate(environment))) return null;
        const said: unknown = await extension.nudge({ ...ctx, environment });
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
        faults.push({ namespace, phase: "nudge", error });
        const scope = scopeOf(ctx.environment);
        log.warn("extension.failed", { ext: namespace, phase: "nudge", error: messageOf(error), ...scope });
        return null;
      }
    },
  };
}
