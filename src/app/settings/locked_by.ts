import type { OpenRequest, ServiceRequest } from "../../channels/channel.ts";
import { UsageError } from "../../domain/errors.ts";
import type { EnvironmentVariables } from "./settings.ts";

/** What `--profile` and `--writable`, or VIS_PROFILE, ask for. Throws `UsageError` for a profile that is none. */
export function lockedBy(
  { profile, writable = false }: Pick<ServiceRequest, "profile" | "writable">,
  env: EnvironmentVariables,
): OpenRequest["locked"] {
  const name = profile ?? (env["VIS_PROFILE"] || "open");
  if (name === "locked") return { writable };
  if (name !== "open") throw new UsageError(`Cannot use profile ${name}: there are open and locked`);
  if (writable) throw new UsageError("Cannot use --writable: it belongs to --profile locked");
  return undefined;
}
