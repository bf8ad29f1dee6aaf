/** Runs the mock as a program, which prints its base URL and serves until it is killed.
 *
 *     deno run -A tests/helpers/wires/openai_mock_main.ts SCRIPT.json              replies from a list
 *     deno run -A tests/helpers/wires/openai_mock_main.ts --policy FILE.ts         replies from a function (default export)
 *     … --log FILE                                                           one JSON line per request */
import { type MockHandler, type MockReply, startOpenAiMock } from "./openai_mock.ts";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

interface Arguments {
  readonly script?: string;
  readonly policy?: string;
  readonly log?: string;
}

function read(args: readonly string[]): Arguments {
  const value = (flag: string) => args.includes(flag) ? { [flag.slice(2)]: args[args.indexOf(flag) + 1] } : {};
  const script = args.find((arg, at) => !arg.startsWith("--") && !args[at - 1]?.startsWith("--"));
  return { ...(script === undefined ? {} : { script }), ...value("--policy"), ...value("--log") };
}

async function main(): Promise<void> {
  const { script, policy, log } = read(Deno.args);
  const source: { reply: readonly (string | MockReply)[] } | { handler: MockHandler } = policy === undefined
    ? { reply: JSON.parse(Deno.readTextFileSync(script ?? "")) }
    : { handler: (await import(pathToFileURL(resolve(policy)).href)).default };
  const mock = await startOpenAiMock({
    ...source,
    onRequest: (request) => {
      if (log !== undefined) Deno.writeTextFileSync(log, JSON.stringify(request) + "\n", { append: true });
    },
  });
  console.log(mock.baseUrl);
}

if (import.meta.main) await main();
