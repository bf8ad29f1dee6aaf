import { Cancelled } from "../../domain/errors.ts";

/** A terminal that echoes and edits a line itself. */
export interface LineTerminal {
  readonly stdin: { read(into: Uint8Array): Promise<number | null> };
  readonly write: (text: string) => void;
  readonly onInterrupt: (run: () => void) => () => void;
}

/** Prompts for a line. Rejects with `Cancelled` on Ctrl-C, and on Ctrl-D before anything was typed. */
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

/** Prompts for a line that begins with the code, which nobody could type before the question; ignores all others. */
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
