import process from "node:process";
import { ProcessTerminal } from "@earendil-works/pi-tui";

export class OwnTerminal extends ProcessTerminal {
  readonly #gone: () => void;
  #resized: () => void = () => {};

  constructor(gone: () => void) {
    super();
    const told = { yet: false };
    this.#gone = () => {
      if (!told.yet) gone();
      told.yet = true;
    };
  }

  override start(onInput: (data: string) => void, onResize: () => void): void {
    process.stdin.once("end", this.#gone);
    process.stdin.on("error", this.#gone);
    process.stdout.on("error", this.#gone);
    this.#resized = onResize;
    // The runtime of the executable emits no "resize", so this class listens for the signal.
    process.on("SIGWINCH", this.#resized);
    super.start(typedAhead(process.stdin, onInput), onResize);
  }

  override stop(): void {
    process.off("SIGWINCH", this.#resized);
    this.#try(() => super.stop());
  }

  override write(data: string): void {
    this.#try(() => super.write(data));
  }

  override hideCursor(): void {
    this.write("\x1b[?25l");
  }

  override showCursor(): void {
    this.write("\x1b[?25h");
  }

  /** For a closed terminal, some runtimes throw and others emit an event. */
  #try(work: () => void): void {
    try {
      work();
    } catch {
      this.#gone();
    }
  }
}

/** The first chunk of `stdin` can have keys that the user typed before the program took the terminal. In this chunk,
 * Enter is a line feed. */
export function typedAhead(
  stdin: { prependOnceListener(event: "data", listener: () => void): unknown },
  onInput: (data: string) => void,
): (data: string) => void {
  let chunks = 0;
  const count = (): void => {
    if (++chunks === 1) stdin.prependOnceListener("data", count);
  };
  stdin.prependOnceListener("data", count);
  return (data) => onInput(chunks === 1 && data === "\n" ? "\r" : data);
}

const SIGNALS: readonly (readonly [Deno.Signal, number])[] = [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]];

/** Calls `last` if the process exits before the caller calls the returned function. */
export function watchEnd({ signal, defect, last }: {
  readonly signal: (code: number) => void;
  readonly defect: (error: unknown) => void;
  readonly last: () => void;
}): () => void {
  const times = { count: 0 };
  const listeners = SIGNALS.map(([name, code]) => {
    const run = (): void => {
      if (++times.count > 1 && name !== "SIGHUP") Deno.exit(code); // A closed terminal may send SIGHUP repeatedly.
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

export function suspend({ giveUp, take }: { readonly giveUp: () => void; readonly take: () => void }): void {
  if (Deno.build.os === "windows") return;
  giveUp();
  const back = (): void => {
    Deno.removeSignalListener("SIGCONT", back);
    take();
  };
  Deno.addSignalListener("SIGCONT", back);
  Deno.kill(Deno.pid, "SIGSTOP");
}

/** Terminals differ in the form of notifications that they support, so the result has two forms. `text` is one line
 * without control characters. */
export function notification(text: string): string {
  const plain = text.replaceAll(";", ",");
  return `\x1b]9;Vis: ${plain}\x07\x1b]777;notify;Vis;${plain}\x07`;
}

export const FOCUS = { in: "\x1b[I", out: "\x1b[O" } as const;

export const TERMINAL_CODES = {
  bell: "\x07",
  keepTitle: "\x1b[22;0t",
  shellTitle: "\x1b[23;0t",
  mouseOn: "\x1b[?1000h\x1b[?1002h\x1b[?1006h",
  mouseOff: "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l",
} as const;
