import { UsageError } from "../../../domain/errors.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import type { LoginChoice } from "../../../domain/reports.ts";
import type { Io } from "../../channel.ts";

const TRIES = 3;

/** The choice of a server that is not in the list. */
export const ANOTHER: LoginChoice = { name: "other", title: "another OpenAI-compatible server", need: "optional" };

/** Lists the choices and prompts for a number or a name; a unique prefix is enough. Rejects with `Cancelled` like
 * `Io.askLine`, and with `UsageError` after three invalid answers. */
export async function chooseLogin(choices: readonly LoginChoice[], io: Io): Promise<LoginChoice> {
  const width = Math.max(...choices.map(({ name }) => name.length));
  const lines = choices.map(({ name, title, need, start }, at) => {
    const key = start !== undefined || name === ANOTHER.name
      ? ""
      : need === "optional"
      ? " (no key needed)"
      : need === "device-login"
      ? " (in the browser)"
      : "";
    return `${String(at + 1).padStart(3)}  ${name.padEnd(width)}  ${title}${key}`;
  });
  io.stderr(`Which provider do you want to use?\n\n${lines.map(visibleText).join("\n")}\n\n`);
  for (let time = 0; time < TRIES; time++) {
    const answer = (await io.askLine("Number or name (Ctrl-C to quit): ")).toLowerCase();
    const found = pick(answer, choices);
    if (found) return found;
    if (answer !== "") io.stderr(`vis: no such provider: ${visibleText(answer)}\n`);
  }
  throw new UsageError(`Cannot log in: specify a provider, one of ${choices.map(({ name }) => name).join(", ")}`);
}

function pick(answer: string, choices: readonly LoginChoice[]): LoginChoice | undefined {
  if (answer === "") return undefined;
  if (/^\d+$/.test(answer)) return choices[Number(answer) - 1];
  const begun = choices.filter(({ name }) => name.startsWith(answer));
  return choices.find(({ name }) => name === answer) ?? (begun.length === 1 ? begun[0] : undefined);
}
