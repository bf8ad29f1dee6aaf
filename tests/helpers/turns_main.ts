/** `deno run -A turns_main.ts DATABASE WORKSPACE COUNT` waits for a line on stdin. The program then sends COUNT
 * requests, and prints a line for each request. */
import { isAlive } from "../../src/app/session/process_owner.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { startEngine } from "./engine.ts";
import { replyJson } from "./scripted_provider.ts";

const [path = "", workspace = "", count = "1"] = Deno.args;
const say = (line: string): Promise<number> => Deno.stdout.write(new TextEncoder().encode(`${line}\n`));
const heard = (): Promise<number | null> => Deno.stdin.read(new Uint8Array(64));

const store = await openStore({ path, isAlive });
await say(`swept ${await store.sweepLost(isAlive)}`);
const replies = Array.from(
  { length: 2 * Number(count) },
  (_, at) =>
    at % 2 === 0
      ? replyJson([`var list = [...(typeof list === "undefined" ? [] : list), ${at / 2}]`, "list.length"])
      : replyJson("const last = list.at(-1)", { final: "{{last}}" }),
);
const engine = await startEngine(replies, { store, workspace });
await say("ready");
await heard();
for (let turn = 0; turn < Number(count); turn++) {
  try {
    const { status, answer } = await engine.conversations.ask(engine.branch, `turn ${turn}`, {
      signal: new AbortController().signal,
      emit: () => {},
    });
    await say(`${status} ${answer}`);
  } catch (error) {
    await say(`${error instanceof Error ? error.name : error}`);
  }
}
await engine.close();
