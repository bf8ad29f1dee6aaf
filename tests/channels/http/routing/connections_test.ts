import assert from "node:assert/strict";
import { Connections } from "../../../../src/channels/http/connections.ts";

const LIMITS = { headMs: 30, idleMs: 300 };
const PORT = 8080; // 1F90
const ESTABLISHED = "01", CLOSE_WAIT = "08", TIME_WAIT = "06";

/** A row of /proc/net/tcp. */
const row = (client: number, inode: number, { state = ESTABLISHED, port = PORT } = {}): string => {
  const hex = (value: number): string => value.toString(16).toUpperCase().padStart(4, "0");
  return `  1: 0100007F:${hex(port)} 0100007F:${
    hex(client)
  } ${state} 00000000:00000000 00:00000000 00000000 0 0 ${inode} 1`;
};

function rig(rows: readonly string[] = []) {
  const state = { rows: rows as readonly string[] | Error, now: 0, ended: [] as string[] };
  const own = {
    read: () => state.rows instanceof Error ? Promise.reject(state.rows) : Promise.resolve(state.rows.join("\n")),
    end: (inodes: ReadonlySet<string>) => void state.ended.push(...inodes),
    missesLeaving: true,
  };
  const connections = new Connections(PORT, { own, limits: LIMITS, now: () => state.now });
  const lookAt = async (now: number): Promise<readonly string[]> => {
    state.now = now;
    state.ended = [];
    await connections.look();
    return state.ended;
  };
  const gone: number[] = [];
  const watch = (client: number): () => void => connections.watch(client, () => void gone.push(client));
  return { state, connections, lookAt, gone, watch };
}

Deno.test("a connection without a request ends after the time for a head, one with a request never", async () => {
  const { connections, lookAt } = rig([row(1001, 71), row(1002, 72)]);
  connections.begin(1002);
  assert.deepEqual(await lookAt(0), []);
  assert.deepEqual(await lookAt(29), []);
  assert.deepEqual(await lookAt(30), ["71"]);
  assert.deepEqual(await lookAt(100_000), ["71"], "until it is gone");
});

Deno.test("a connection that has asked may rest for longer, from the end of its last answer", async () => {
  const { state, connections, lookAt } = rig([row(1001, 71)]);
  await lookAt(0);
  const [first, second] = [connections.begin(1001), connections.begin(1001)];
  state.now = 1_000;
  first();
  assert.deepEqual(await lookAt(5_000), [], "the second runs");
  second();
  assert.deepEqual(await lookAt(5_299), []);
  assert.deepEqual(await lookAt(5_300), ["71"]);
});

Deno.test("a port whose connection was closed and whose end the kernel still remembers is new when it comes again", async () => {
  const { state, lookAt } = rig([row(1001, 71)]);
  await lookAt(0);
  state.rows = [row(1001, 0, { state: TIME_WAIT })];
  await lookAt(20);
  state.rows = [row(1001, 72)];
  assert.deepEqual(await lookAt(40), []);
  assert.deepEqual(await lookAt(70), ["72"]);
});

Deno.test("connections of other ports, closed ones and those of nobody are left alone; a port that comes again is new", async () => {
  const { state, lookAt } = rig([
    row(1001, 71, { port: 9000 }),
    row(1002, 72, { state: CLOSE_WAIT }),
    row(1003, 0),
    row(1004, 74),
  ]);
  await lookAt(0);
  state.rows = [];
  assert.deepEqual(await lookAt(40), []);
  state.rows = [row(1004, 75)];
  assert.deepEqual(await lookAt(41), []);
  assert.deepEqual(await lookAt(71), ["75"]);
});

Deno.test("Connections tells once of a client that closed its end", async () => {
  const { state, lookAt, gone, watch } = rig([row(5001, 71), row(5002, 72)]);
  const stop = [5001, 5002].map(watch);
  await lookAt(0);
  assert.deepEqual(gone, []);
  state.rows = [row(5001, 71, { state: CLOSE_WAIT }), row(5002, 72), row(5001, 73, { port: 9000 })];
  await lookAt(1);
  await lookAt(2);
  assert.deepEqual(gone, [5001]);
  stop.forEach((end) => end());
});

Deno.test("Connections tells of nobody whom it does not know to have gone", async () => {
  const { state, lookAt, gone, watch } = rig();
  const stop = watch(5001);
  const both = [row(5001, 71, { state: CLOSE_WAIT }), row(5001, 72)];
  const tables = [[], [row(5001, 72)], both, [row(5001, 71, { state: CLOSE_WAIT, port: 9000 })]];
  for (const rows of [...tables, new Error("too many open files")]) {
    state.rows = rows;
    await lookAt(0);
  }
  assert.deepEqual(gone, []);
  stop();
});

Deno.test("Connections tells nobody after the watch", async () => {
  const { state, lookAt, gone, watch } = rig([row(5001, 71)]);
  watch(5001)();
  state.rows = [row(5001, 71, { state: CLOSE_WAIT })];
  await lookAt(0);
  assert.deepEqual(gone, []);
});
