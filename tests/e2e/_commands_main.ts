/** Runs one command of the program after another in the same process. Each line of the socket that the argument names
 * has the arguments of a command, as JSON. A line with its exit code ends its output on stdout and on stderr. */
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { shipped } from "../../extensions/index.ts";
import { realm } from "../../extensions/realm.ts";
import { main } from "../../src/app.ts";
import { END } from "./helpers/commands.ts";

class Ended extends Error {
  constructor(readonly code: number) {
    super(`Ended with ${code}`);
  }
}

async function codeOf(args: readonly string[]): Promise<number> {
  try {
    await main(args, { shipped, realm });
    return 0;
  } catch (error) {
    if (error instanceof Ended) return error.code;
    throw error;
  }
}

Deno.exit = (code = 0) => {
  throw new Ended(code);
};
const encoder = new TextEncoder();
for await (const line of createInterface({ input: connect(Deno.args[0] ?? "") })) {
  const end = encoder.encode(`${END}${await codeOf(JSON.parse(line))}\n`);
  for (const stream of [Deno.stdout, Deno.stderr]) stream.writeSync(end);
}
