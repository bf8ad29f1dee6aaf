import { join } from "node:path";
import { PERMISSIONS } from "../../scripts/flags.ts";
import { ROOT } from "../../scripts/_project.ts";

/** The output of JavaScript that runs with exactly the permissions of the program. */
export async function runPermitted(script: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const url = `data:text/javascript,${encodeURIComponent(script)}`;
  const args = ["run", "--quiet", "--no-prompt", "--no-lock", "--config", join(ROOT, "deno.json"), ...PERMISSIONS, url];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, stdin: "null" }).output();
  return { stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}
