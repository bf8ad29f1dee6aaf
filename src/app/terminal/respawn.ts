import { fileURLToPath } from "node:url";

/** Runs this program again in the same terminal; resolves with its exit code. */
export async function respawn(args: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const program = Deno.build.standalone ? Deno.execPath() : fileURLToPath(new URL("../../../bin/vis", import.meta.url));
  const command = new Deno.Command(program, {
    args: [...args],
    env,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  });
  return (await command.spawn().status).code;
}
