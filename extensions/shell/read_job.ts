import type { EnvironmentView } from "@vis/extension";
import type { JobReport, ReadOutputOptions } from "./job.ts";
import { jobsOf } from "./jobs.ts";
import { wallHint } from "./wall_hint.ts";

/** What a started command printed since the last read, with a hint if the wall may have refused something. */
export async function readJob(
  env: EnvironmentView,
  id: string,
  options: ReadOutputOptions = {},
): Promise<JobReport & { readonly hint?: string }> {
  const report = await jobsOf(env).read(id, { ...options, signal: env.signal });
  const hint = wallHint(env, report.output);
  return hint === null ? report : { ...report, hint };
}
