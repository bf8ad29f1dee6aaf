import type { EngineOptions } from "./engine.ts";
import { type EnvironmentView, type Extension, fn, z } from "../../src/extension/mod.ts";

const ENDED = { code: 0, signal: null, stdout: "", stderr: "", ms: 1, timedOut: false, truncated: false, notes: [] };

/** A started command prints each text that `print` gets. The command ends when a signal stops it or its conversation
 * closes. */
export function backgroundCommands(): {
  readonly engine: Pick<EngineOptions, "extensions" | "spawn">;
  print(text: string): void;
} {
  const printing = new Set<(text: string) => void>();
  const extension: Extension = {
    namespace: "test.commands",
    alias: { ns: "test.ext.commands", alias: "commands" },
    doc: "Starts commands.",
    version: "0.1.0",
    symbols: [
      fn("start", ({ spawn }: EnvironmentView, title: string) => {
        void spawn?.([title], { title, lifetime: "conversation" }).catch(() => {});
      }, { doc: "Starts a command.", args: z.tuple([z.string()]), returns: "void" }),
    ],
  };
  return {
    engine: {
      extensions: [extension],
      spawn: async (_workspace, _argv, options) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const print = (text: string): void => options.onOutput?.("stdout", new TextEncoder().encode(text));
        printing.add(print);
        for (const signal of [options.stop, options.signal]) {
          if (signal?.aborted) resolve();
          signal?.addEventListener("abort", () => resolve());
        }
        await promise;
        printing.delete(print);
        return ENDED;
      },
    },
    print: (text) => printing.forEach((print) => print(text)),
  };
}
