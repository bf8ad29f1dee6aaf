import { join } from "node:path";
import { PERMISSIONS } from "../../scripts/flags.ts";
import { ROOT } from "../../scripts/_project.ts";

export async function runPermitted(
  script: string,
  { heapMiB }: { readonly heapMiB?: number } = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const url = `data:text/javascript,${encodeURIComponent(script)}`;
  const heap = heapMiB === undefined ? [] : [`--v8-flags=--max-old-space-size=${heapMiB}`];
  const flags = ["--quiet", "--no-prompt", "--no-lock", "--config", join(ROOT, "deno.json"), ...PERMISSIONS, ...heap];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: ["run", ...flags, url], stdin: "null" })
    .output();
  return { stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}
