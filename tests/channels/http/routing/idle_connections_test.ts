import assert from "node:assert/strict";
import { IdleConnections } from "../../../../src/channels/http/routing/idle_connections.ts";

const LIMITS = { headMs: 30, idleMs: 300 };
const PORT = 8080; // 1F90
const ESTABLISHED = "01", CLOSE_WAIT = "08";

/** A row of /proc/net/tcp. */
const row = (client: number, inode: number, { state = ESTABLISHED, port = PORT } = {}): string => {
  const hex = (value: number): string => value.toString(16).toUpperCase().padStart(4, "0");
  return `  1: 0100007F:${hex(port)} 0100007F:${
    hex(client)
  } ${state} 00000000:00000000 00:00000000 00000000 0 0 ${inode} 1`;
};

function rig(rows: readonly string[] = []) {
  const state = { rows, now: 0, ended: [] as string[] };
  const own = {
    read: () => Promise.resolve(state.rows.join("\n")),
    end: (inodes: ReadonlySet<string>) => void state.ended.push(...inodes),
  };
  const idle = new IdleConnections(PORT, { own, limits: LIMITS, now: () => state.now });
  const lookAt = async (now: number): Promise<readonly string[]> => {
    state.now = now;
    state.ended = [];
    await idle.look();
    return state.ended;
  };
  return { state, idle, lookAt };
}

Deno.test("a connection without a request ends after the time for a head, one with a request never", async () => {
  const { idle, lookAt } = rig([row(1001, 71), row(1002, 72)]);
  idle.begin(1002);
  assert.deepEqual(await lookAt(0), []);
  assert.deepEqual(await lookAt(29), []);
  assert.deepEqual(await lookAt(30), ["71"]);
  assert.deepEqual(await lookAt(100_000), ["71"], "until it is gone");
});

Deno.test("a connection that has asked may rest for longer, from the end of its last answer", async () => {
  const { state, idle, lookAt } = rig([row(1001, 71)]);
  await lookAt(0);
  const [first, second] = [idle.begin(1001), idle.begin(1001)];
  state.now = 1_000;
  first();
  assert.deepEqual(await lookAt(5_000), [], "the second runs");
  second();
  assert.deepEqual(await lookAt(5_299), []);
  assert.deepEqual(await lookAt(5_300), ["71"]);
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
