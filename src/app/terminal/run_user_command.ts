import type { RunCommand } from "../../channels/tui/user_commands.ts";
import { abortable } from "../../domain/kit/concurrency.ts";

/** Runs a command in the user's shell. Input that it asks for ends at once. */
export async function runUserCommand(
  command: string,
  { cwd, signal, onOutput }: Parameters<RunCommand>[1],
): Promise<string> {
  const shell = Deno.build.os === "windows" ? ["cmd", "/c", command] : ["sh", "-c", `exec 2>&1\n${command}`];
  const [program = "", ...args] = shell;
  const child = new Deno.Command(program, { args, cwd, stdin: "null", stdout: "piped", stderr: "null" }).spawn();
  const end = (): void => {
    try {
      child.kill("SIGTERM");
    } catch { /* it has ended */ }
  };
  signal.addEventListener("abort", end);
  try {
    const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      // What a command left running may hold its output open.
      const read = await abortable(output.read(), signal).catch((error) => {
        if (signal.aborted) return null;
        throw error;
      });
      if (read === null || read.done) break;
      onOutput(read.value);
    }
    await output.cancel();
    const { code, signal: by } = await child.status;
    if (signal.aborted) return "ended";
    if (by !== null) return `ended by ${by}`;
    return code === 0 ? "" : `exit code ${code}`;
  } finally {
    signal.removeEventListener("abort", end);
  }
}
