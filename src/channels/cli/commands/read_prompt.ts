import { UsageError } from "../../../domain/errors.ts";
import type { Io } from "../../channel.ts";

/** An inherited stdin may never end. After this time the user is shown what Vis is waiting for. */
const PATIENCE_MS = 1_000;

/** The request: the words of the command line, followed by the text on stdin. */
export async function readPrompt(
  words: readonly string[],
  io: Io,
  { quiet = false, patienceMs = PATIENCE_MS }: { readonly quiet?: boolean; readonly patienceMs?: number } = {},
): Promise<string> {
  const given = words.join(" ").trim();
  const piped = io.stdinIsTerminal
    ? ""
    : (await readPiped(given, { io, patienceMs: quiet ? null : patienceMs })).trimEnd();
  if (piped.includes("\0")) throw new UsageError("Cannot read stdin: it contains binary data, not text");
  if (given && piped) return `${given}\n\n${piped}`;
  const prompt = given || piped;
  if (prompt.trim() === "") {
    throw new UsageError('Cannot run an empty request: write one, such as vis run "List the routes"');
  }
  return prompt;
}

async function readPiped(
  given: string,
  { io, patienceMs }: { readonly io: Io; readonly patienceMs: number | null },
): Promise<string> {
  const without = given === "" ? "" : " (append </dev/null to run without it)";
  const tell = (): void => io.stderr(`vis: waiting for the end of stdin${without}\n`);
  const timer = patienceMs === null ? 0 : setTimeout(tell, patienceMs);
  try {
    return await io.readStdin();
  } finally {
    clearTimeout(timer);
  }
}
