import type { EnvironmentView } from "@vis/extension";
import { allowed, type CommandOptions, type ShellCommand, spawnOptions } from "./command.ts";
import { Job, type JobReport } from "./job.ts";
import { jobsOf } from "./jobs.ts";
import { readJob } from "./read_job.ts";

export interface StartOptions extends CommandOptions {
  readonly waitMs?: number;
  readonly until?: string;
}

/** Long enough for a command that cannot run to report it. */
const WAIT_MS = 1_000;
const TIMEOUT_MS = 3_600_000;

/** Starts a command that keeps running after the call, and reads its first output. Throws as `run` does. */
export async function start(
  env: EnvironmentView,
  command: ShellCommand,
  options: StartOptions = {},
): Promise<JobReport> {
  const { waitMs = WAIT_MS, until, timeoutMs = TIMEOUT_MS, ...rest } = options;
  const spawn = await allowed(env, command, rest);
  const jobs = jobsOf(env);
  const text = typeof command === "string" ? command : command.join(" ");
  const begun = Promise.withResolvers<void>();
  const job = jobs.add((id) =>
    new Job({ id, command: text }, async (own) => {
      try {
        return await spawn({ ...spawnOptions({ ...rest, timeoutMs }), ...own, onBegin: begun.resolve });
      } finally {
        begun.resolve();
      }
    })
  );
  // The user may take any time to allow it.
  if ((await env.programWalls?.())?.unwalled?.mode === "ask") await begun.promise;
  return await readJob(env, job.id, { waitMs, ...(until === undefined ? {} : { until }) });
}
