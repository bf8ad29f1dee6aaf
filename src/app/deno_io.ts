import type { Io } from "../channels/channel.ts";

const encoder = new TextEncoder();

function writeAll(target: { writeSync(bytes: Uint8Array): number }, text: string): void {
  const bytes = encoder.encode(text);
  try {
    for (let at = 0; at < bytes.length;) at += target.writeSync(bytes.subarray(at));
  } catch (error) {
    // The reader went away (`vis run … | head`): there is nobody left to tell.
    if (error instanceof Deno.errors.BrokenPipe) Deno.exit(141);
    throw error;
  }
}

/** The process's own terminal or pipes. */
export function denoIo(args: readonly string[], options: { readonly noColor: boolean }): Io {
  return {
    args,
    stdout: (text) => writeAll(Deno.stdout, text),
    stderr: (text) => writeAll(Deno.stderr, text),
    stdinIsTerminal: Deno.stdin.isTerminal(),
    stderrIsTerminal: Deno.stderr.isTerminal(),
    stdoutColor: !options.noColor && Deno.stdout.isTerminal(),
    stderrColor: !options.noColor && Deno.stderr.isTerminal(),
    columns: () => {
      try {
        return Deno.consoleSize().columns;
      } catch {
        return 80;
      }
    },
    readStdin: async () => await new Response(Deno.stdin.readable).text(),
    onInterrupt: (run) => {
      const signals: readonly Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM"];
      let times = 0;
      const handler = (): void => {
        if (++times > 1) Deno.exit(130); // the second one does not wait for anything
        run();
      };
      for (const signal of signals) Deno.addSignalListener(signal, handler);
      return () => signals.forEach((signal) => Deno.removeSignalListener(signal, handler));
    },
  };
}
