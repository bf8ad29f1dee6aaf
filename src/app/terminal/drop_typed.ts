import { closeSync, constants, openSync, readSync } from "node:fs";

/** Of the standard input. */
const STD_INPUT_HANDLE = -10;

interface Options {
  readonly os?: typeof Deno.build.os;
  /** The terminal of this process; a test has another file. */
  readonly device?: string;
  /** The functions of Windows for its console. */
  readonly console?: () => Console;
}

interface Console {
  readonly GetStdHandle: (which: number) => Deno.PointerValue;
  readonly FlushConsoleInputBuffer: (handle: Deno.PointerValue) => number;
}

/** Drops the lines that were typed on the terminal but not read yet. A line without its end stays in the editor of the
 * terminal, where the user sees it. Returns false if nothing can be dropped here: whatever is read next may have been
 * typed before. */
export function dropTyped(
  { os = Deno.build.os, device = "/dev/tty", console = windowsConsole }: Options = {},
): boolean {
  try {
    if (os !== "windows") return readAll(device);
    const { GetStdHandle, FlushConsoleInputBuffer } = console();
    return FlushConsoleInputBuffer(GetStdHandle(STD_INPUT_HANDLE)) !== 0;
  } catch {
    return false;
  }
}

function readAll(device: string): boolean {
  const terminal = openSync(device, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const buffer = new Uint8Array(4096);
    while (readSync(terminal, buffer) > 0);
  } catch (error) {
    // Nothing more is there.
    if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error;
  } finally {
    closeSync(terminal);
  }
  return true;
}

function windowsConsole(): Console {
  return Deno.dlopen("kernel32.dll", {
    GetStdHandle: { parameters: ["i32"], result: "pointer" },
    FlushConsoleInputBuffer: { parameters: ["pointer"], result: "i32" },
  }).symbols;
}
