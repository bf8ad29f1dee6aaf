import { join } from "node:path";
import { ROOT } from "../../scripts/_project.ts";

const NAMESPACE = ["unshare", "--pid", "--fork"];
const [UNSHARE = "", ...FLAGS] = NAMESPACE;
const usable = await Promise.try(() =>
  new Deno.Command(UNSHARE, { args: [...FLAGS, "true"], stdout: "null", stderr: "null" }).output()
).then(({ success }) => success, () => false);

/** Runs `code` in a separate process and, if the system allows it, in another process namespace, where its id is 1.
 * Resolves once the code has run. The process then waits until `end` ends it. */
export async function otherProcess(code: string): Promise<{ end(): Promise<void> }> {
  const script = `${code}; console.log("ready"); for await (const _ of Deno.stdin.readable); Deno.exit(0)`;
  const deno = [Deno.execPath(), "eval", "--quiet", "--no-lock", "--no-check", "--ext=ts"];
  const [program = "", ...args] = [...(usable ? NAMESPACE : []), ...deno, "--config", join(ROOT, "deno.json"), script];
  const child = new Deno.Command(program, { args, stdin: "piped", stdout: "piped", stderr: "inherit" }).spawn();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  if (!new TextDecoder().decode(value).startsWith("ready")) throw new Error("The other process did not get ready");
  return {
    end: async () => {
      await reader.cancel();
      await child.stdin.close();
      await child.status;
    },
  };
}
