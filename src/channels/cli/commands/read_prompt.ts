import { UsageError } from "../../../domain/errors.ts";
import type { Io } from "../../channel.ts";

/** An inherited stdin may never end. After this time the user is shown what Vis is waiting for. */
const PATIENCE_MS = 1_000;

/** The request: the words of the command line, followed by the text on stdin, which must end within `timeout`
 * milliseconds. */
export async function readPrompt(
  words: readonly string[],
  io: Io,
  { quiet = false, timeout, patienceMs = PATIENCE_MS }: {
    readonly quiet?: boolean;
    readonly timeout?: number | undefined;
    readonly patienceMs?: number;
  } = {},
): Promise<string> {
  const given = words.join(" ").trim();
  const piped = io.stdinIsTerminal
    ? ""
    : (await readPiped(given, { io, timeout, patienceMs: quiet ? null : patienceMs })).trimEnd();
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
  { io, timeout, patienceMs }: {
    readonly io: Io;
    readonly timeout: number | undefined;
    readonly patienceMs: number | null;
  },
): Promise<string> {
  const without = given === "" ? "" : " (append </dev/null to run without it)";
  const tell = (): void => io.stderr(`vis: waiting for the end of stdin${without}\n`);
  const timer = patienceMs === null ? 0 : setTimeout(tell, patienceMs);
  const late = Promise.withResolvers<never>();
  const limit = timeout === undefined ? 0 : setTimeout(() => {
    late.reject(new UsageError(`Cannot read the request: stdin did not end within ${timeout / 1000} s${without}`));
  }, timeout);
  try {
    return await Promise.race([io.readStdin(), late.promise]);
  } finally {
    clearTimeout(timer);
    clearTimeout(limit);
  }
}
