import { join } from "node:path";
import { ROOT } from "../../scripts/_project.ts";

const NAMESPACE = ["unshare", "--pid", "--fork"];
const [UNSHARE = "", ...FLAGS] = NAMESPACE;
const usable = await Promise.try(() =>
  new Deno.Command(UNSHARE, { args: [...FLAGS, "true"], stdout: "null", stderr: "null" }).output()
).then(({ success }) => success, () => false);

/** If the system allows, the process has a process namespace of its own, where its id is 1. The process waits until
 * `end` ends it. */
export async function otherProcess(code: string): Promise<{ end(): Promise<void> }> {
  const script = `${code}; console.log("ready"); for await (const _ of Deno.stdin.readable); Deno.exit(0)`;
  const deno = [Deno.execPath(), "eval", "--quiet", "--no-lock", "--no-check", "--ext=ts"];
  const [program = "", ...args] = [...(usable ? NAMESPACE : []), ...deno, "--config", join(ROOT, "deno.json"), script];
  const child = new Deno.Command(program, { args, stdin: "piped", stdout: "piped", stderr: "inherit" }).spawn();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  if (!new TextDecoder().decode(value).startsWith("ready")) {
    throw new Error("Cannot use the other process: it did not print ready");
  }
  return {
    end: async () => {
      await reader.cancel();
      await child.stdin.close();
      await child.status;
    },
  };
}
