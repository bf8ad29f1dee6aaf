import { UsageError } from "../../domain/errors.ts";
import type { Io } from "../channel.ts";

/** The request: the words of the command line, and what stands on stdin below them. */
export async function readPrompt(words: readonly string[], io: Io): Promise<string> {
  const told = words.join(" ").trim();
  const piped = io.stdinIsTerminal ? "" : (await io.readStdin()).trimEnd();
  if (piped.includes("\0")) throw new UsageError("Cannot read stdin as text: it holds binary data");
  if (told && piped) return `${told}\n\n${piped}`;
  const prompt = told || piped;
  if (prompt.trim() === "") {
    throw new UsageError('Cannot run an empty prompt: say what you want, such as vis run "List the routes"');
  }
  return prompt;
}
