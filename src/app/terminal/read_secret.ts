import { Cancelled } from "../../domain/errors.ts";

const CTRL_C = 3;
const CTRL_D = 4;
const BACKSPACE = [8, 127];
const CTRL_U = 21;
const ENTER = [10, 13];

/** The parts of a terminal needed to type a secret. */
export interface SecretTerminal {
  readonly stdin: {
    setRaw(on: boolean): void;
    read(into: Uint8Array): Promise<number | null>;
  };
  readonly write: (text: string) => void;
}

/** Prompts for a line that is not echoed. Rejects with `Cancelled` on Ctrl-C. */
export async function readSecret(question: string, { stdin, write }: SecretTerminal): Promise<string> {
  write(question);
  stdin.setRaw(true);
  try {
    return await readLine(stdin);
  } finally {
    stdin.setRaw(false);
    write("\n");
  }
}

async function readLine(stdin: SecretTerminal["stdin"]): Promise<string> {
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
  // Terminals with bracketed paste send these around pasted text; the escape itself was left out above.
  return new TextDecoder().decode(Uint8Array.from(bytes)).replace(/^\[200~|\[201~$/g, "").trim();
}
