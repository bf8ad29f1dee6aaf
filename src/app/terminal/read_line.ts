import { closeSync, constants, openSync, readSync } from "node:fs";
import { Cancelled } from "../../domain/errors.ts";

interface LineTerminal {
  readonly stdin: { read(into: Uint8Array): Promise<number | null> };
  readonly write: (text: string) => void;
  readonly onInterrupt: (run: () => void) => () => void;
}

export async function readLine(question: string, { stdin, write, onInterrupt }: LineTerminal): Promise<string> {
  const { promise: interrupted, reject } = Promise.withResolvers<never>();
  const stop = onInterrupt(() => reject(new Cancelled("Cancelled")));
  write(question);
  try {
    return await Promise.race([lineOf(stdin), interrupted]);
  } catch (error) {
    write("\n");
    throw error;
  } finally {
    stop();
  }
}

/** The user cannot know the code before the prompt appears, so a line that begins with the code is new. */
export async function readFreshLine(
  question: string,
  { code, ...terminal }: LineTerminal & { readonly code: string },
): Promise<string> {
  let line = await readLine(`${question}\nBegin with ${code}: `, terminal);
  while (!line.startsWith(code)) line = await readLine(`Begin with ${code}: `, terminal);
  return line.slice(code.length).trim();
}

async function lineOf(stdin: LineTerminal["stdin"]): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(1024);
  let text = "";
  for (;;) {
    const count = await stdin.read(buffer);
    if (count === null && text === "") throw new Cancelled("Cancelled");
    text += decoder.decode(buffer.subarray(0, count ?? 0), { stream: true });
    const end = text.search(/[\r\n]/);
    if (end >= 0 || count === null) return text.slice(0, end < 0 ? text.length : end).trim();
  }
}

const CTRL_C = 3;
const CTRL_D = 4;
const BACKSPACE = [8, 127];
const CTRL_U = 21;
const ENTER = [10, 13];

interface SecretTerminal {
  readonly stdin: {
    setRaw(on: boolean): void;
    read(into: Uint8Array): Promise<number | null>;
  };
  readonly write: (text: string) => void;
}

export async function readSecret(question: string, { stdin, write }: SecretTerminal): Promise<string> {
  write(question);
  stdin.setRaw(true);
  try {
    return await typedLine(stdin);
  } finally {
    stdin.setRaw(false);
    write("\n");
  }
}

async function typedLine(stdin: SecretTerminal["stdin"]): Promise<string> {
  const typed: number[] = [];
  const buffer = new Uint8Array(1024);
  for (;;) {
    const count = await stdin.read(buffer);
    for (const byte of buffer.subarray(0, count ?? 0)) {
      if (byte === CTRL_C) throw new Cancelled("Cancelled");
      if (ENTER.includes(byte) || byte === CTRL_D) return textOf(typed);
      if (BACKSPACE.includes(byte)) typed.pop();
      else if (byte === CTRL_U) typed.length = 0;
      else if (byte >= 32) typed.push(byte);
    }
    if (count === null) return textOf(typed);
  }
}

function textOf(bytes: readonly number[]): string {
  // Terminals with bracketed paste send these codes around pasted text, and `typedLine` has removed the escape
  // character.
  return new TextDecoder().decode(Uint8Array.from(bytes)).replace(/^\[200~|\[201~$/g, "").trim();
}

const STD_INPUT_HANDLE = -10;

interface Options {
  readonly os?: typeof Deno.build.os;
  readonly device?: string;
  readonly console?: () => Console;
}

interface Console {
  readonly GetStdHandle: (which: number) => Deno.PointerValue;
  readonly FlushConsoleInputBuffer: (handle: Deno.PointerValue) => number;
}

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
