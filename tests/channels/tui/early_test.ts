/** Text that the user types before the screen is complete. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { typedAhead } from "../../../src/channels/tui/terminal.ts";
import { final } from "../../helpers/scripted_provider.ts";
import { withScreen } from "./_rig.ts";

const requestsOf = (requests: readonly { readonly texts: readonly string[] }[]): readonly string[] =>
  requests.map(({ texts }) => texts.join("\n"));

Deno.test("lines that were typed early are requests in their order, and the last one stays in the input", async () => {
  const early = "First one\rSecond one\rhalf of a th";
  await withScreen([final("Did A"), final("Did B")], { early }, async ({ screen, engine }) => {
    const shown = await screen.until(/Did A[^]*Second one[^]*Did B/);
    assert.match(shown, /› First one[^]*› Second one/);
    await screen.until("half of a th");
    const [first = "", second = ""] = requestsOf(engine.provider.requests);
    assert.match(first, /First one/);
    assert.ok(!first.includes("Second one"));
    assert.match(second, /Second one/);
  });
});

Deno.test("an early command is one line, and the request after it reads its output", async () => {
  const ran: string[] = [];
  const gate = Promise.withResolvers<string>();
  const runCommand = (command: string): Promise<string> => {
    ran.push(command);
    return gate.promise;
  };
  const options = { early: "!npm test\rDid that pass?\r", parts: { runCommand }, shows: "waits for the command" };
  await withScreen([final("It did")], options, async ({ screen, engine }) => {
    assert.deepEqual(ran, ["npm test"]);
    assert.equal(engine.provider.requests.length, 0);
    gate.resolve("");
    await screen.until("It did");
    assert.deepEqual(ran, ["npm test"]);
    assert.match(requestsOf(engine.provider.requests)[0] ?? "", /Did that pass\?[^]*variable ran_1 holds/);
  });
});

Deno.test("early text goes to the conversation that opens, and follows the request of the command line", async () => {
  const options = { early: "And then?\r", place: { request: "Begin" } };
  await withScreen([final("Begun"), final("Then this")], options, async ({ screen }) => {
    await screen.until(/› Begin[^]*Begun[^]*› And then\?[^]*Then this/);
  });
});

Deno.test("early text answers no panel: without a model its lines stay in the input", async () => {
  const options = {
    ...{ early: "one\rtwo\r", session: { provider: "", model: "" }, shows: "two" },
    parts: { providers: () => Promise.reject(new Error("no providers here")) },
  };
  await withScreen([], options, async ({ screen, engine }) => {
    await screen.until(/one\s*\n\s*two/);
    assert.equal(engine.provider.requests.length, 0);
  });
});

Deno.test("a command with several lines does not run", async () => {
  const runCommand = (): never => {
    throw new TypeError("This was not to run");
  };
  await withScreen([], { parts: { runCommand } }, async ({ screen }) => {
    screen.paste("!npm test\nDid that pass?");
    screen.type("\r");
    await screen.until("but may have only one");
    await screen.until("Did that pass?");
  });
});

Deno.test("a line feed is Enter only in the first chunk that the terminal sends", () => {
  const stdin = new EventEmitter<{ data: [string] }>();
  const keys: string[] = [];
  const onKey = typedAhead(stdin, (data) => void keys.push(data));
  stdin.on("data", (text) => [...text].forEach(onKey));
  stdin.emit("data", "a\nb\n");
  stdin.emit("data", "c\n\r");
  stdin.emit("data", "\n");
  assert.deepEqual(keys, ["a", "\r", "b", "\r", "c", "\n", "\r", "\n"]);
});
