import assert from "node:assert/strict";
import { Departures } from "../../../../src/channels/http/routing/departures.ts";

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue\n";
const PORT = 8080;

/** The table of a machine: connections to our port, and one to another. */
function table(states: Readonly<Record<number, string>>): string {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0");
  const rows = Object.entries(states).map(([port, state], at) =>
    `  ${at}: 0100007F:${hex(PORT)} 0100007F:${hex(Number(port))} ${state} 00000000:00000000 00:00000000 0 0 1\n`
  );
  return `${HEAD}${rows.join("")}   9: 0100007F:1F91 0100007F:${hex(5001)} 01 00000000:00000000\n`;
}

function rig(text: string) {
  const now = { text: text as string | Error };
  const read = () => now.text instanceof Error ? Promise.reject(now.text) : Promise.resolve(now.text);
  const departures = new Departures(PORT, read);
  const gone: number[] = [];
  const watch = (port: number): () => void => departures.watch(port, () => void gone.push(port));
  return { now, departures, gone, watch };
}

Deno.test("Departures tells once of a client that closed its end", async () => {
  const { now, departures, gone, watch } = rig(table({ 5001: "01", 5002: "01" }));
  const stop = [5001, 5002].map(watch);
  await departures.look();
  assert.deepEqual(gone, []);
  now.text = table({ 5001: "08", 5002: "01" });
  await departures.look();
  await departures.look();
  assert.deepEqual(gone, [5001]);
  stop.forEach((end) => end());
});

Deno.test("Departures tells of nobody whom it does not know to have gone", async () => {
  const { now, departures, gone, watch } = rig(table({}));
  const stop = [watch(5001)];
  const both = `${table({ 5001: "08" })}\n${table({ 5001: "01" })}`;
  for (const text of [table({}), table({ 5001: "01" }), both, "", new Error("too many open files")]) {
    now.text = text;
    await departures.look();
  }
  assert.deepEqual(gone, []);
  stop.forEach((end) => end());
});

Deno.test("Departures tells nobody after the watch", async () => {
  const { now, departures, gone, watch } = rig(table({ 5001: "01" }));
  watch(5001)();
  now.text = table({ 5001: "08" });
  await departures.look();
  assert.deepEqual(gone, []);
});
