/** Signals that end the program, with their conventional exit codes. */
const SIGNALS: readonly (readonly [Deno.Signal, number])[] = [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]];

/** Reports how the program ends, other than by the user's own keys. `last` is called when the process exits while this
 * is active, for any reason. A second signal other than SIGHUP ends the process immediately. */
export function watchEnd({ signal, defect, last }: {
  readonly signal: (code: number) => void;
  readonly defect: (error: unknown) => void;
  readonly last: () => void;
}): () => void {
  const times = { count: 0 };
  const listeners = SIGNALS.map(([name, code]) => {
    const run = (): void => {
      if (++times.count > 1 && name !== "SIGHUP") Deno.exit(code); // a closed terminal sends it more than once
      signal(code);
    };
    return { name, run };
  }).filter(({ name }) => Deno.build.os !== "windows" || name === "SIGINT");
  const thrown = (event: ErrorEvent | PromiseRejectionEvent): void => {
    event.preventDefault();
    defect("reason" in event ? event.reason : event.error);
  };
  for (const { name, run } of listeners) Deno.addSignalListener(name, run);
  globalThis.addEventListener("error", thrown);
  globalThis.addEventListener("unhandledrejection", thrown);
  globalThis.addEventListener("unload", last);
  return () => {
    for (const { name, run } of listeners) Deno.removeSignalListener(name, run);
    globalThis.removeEventListener("error", thrown);
    globalThis.removeEventListener("unhandledrejection", thrown);
    globalThis.removeEventListener("unload", last);
  };
}
