import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { Connections, Listener } from "../../../src/channels/http/connections.ts";
import { ConfigError } from "../../../src/domain/errors.ts";
import { held } from "./_raw.ts";

const LIMITS = { headMs: 30, idleMs: 300 };
const PORT = 8080; // This is 1F90 in hexadecimal.
const ESTABLISHED = "01", CLOSE_WAIT = "08", TIME_WAIT = "06";

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

Deno.test("connections of other ports, closed ones and unowned ones are ignored; a reused port is a new connection", async () => {
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

Deno.test("Connections reports once a client that closed its end", async () => {
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

Deno.test("Connections reports no client that may still be connected", async () => {
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

Deno.test("Connections reports no client after the watch", async () => {
  const { state, lookAt, gone, watch } = rig([row(5001, 71)]);
  watch(5001)();
  state.rows = [row(5001, 71, { state: CLOSE_WAIT })];
  await lookAt(0);
  assert.deepEqual(gone, []);
});

const answer = () => new Response("here");
const failed = (why: string) => assert.fail(why);
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

function unfinished(port: number): Socket {
  const socket = connect(port, "127.0.0.1", () => void socket.write("GET / HTTP/1.1\r\nX: "));
  return socket.on("error", () => {});
}

Deno.test("Listener takes a free port, and names an address that it cannot use", async () => {
  const listener = new Listener({ host: "127.0.0.1", port: 0, answer, failed });
  const { port } = listener;
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), "here");
  assert.throws(() => new Listener({ host: "127.0.0.1", port, answer, failed }), (error) => {
    return error instanceof ConfigError &&
      error.message.startsWith(`Cannot listen on 127.0.0.1:${port}: the port is in use; `);
  });
  assert.throws(
    () => new Listener({ host: "192.0.2.1", port: 0, answer, failed }),
    /: this machine does not have this address; /,
  );
  await listener.close();
  await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
});

Deno.test("Listener close() sends finished answers until its time is over, and no more without a time", async () => {
  const size = 8 << 20; // The buffers of both ends hold less.
  const readAfterClose = async (late: Promise<void> | null): Promise<number> => {
    const completed = Promise.withResolvers<void>();
    const listener = new Listener({
      ...{ host: "127.0.0.1", port: 0, failed },
      answer: (_request, info) => {
        void info.completed.finally(completed.resolve);
        return new Response("x".repeat(size));
      },
    });
    const socket = await held(`http://127.0.0.1:${listener.port}/`, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await completed.promise;
    const closed = listener.close(late);
    const ended = Promise.withResolvers<void>();
    let got = 0;
    socket.on("data", (bytes) => void (got += bytes.length)).on("close", () => ended.resolve()).resume();
    await Promise.all([closed, ended.promise]);
    return got;
  };
  assert.ok(await readAfterClose(new Promise(() => {})) > size);
  assert.ok(await readAfterClose(null) < size);
});

Deno.test({
  name: "Listener continues when connections have used up all file descriptors: idle ones are dropped",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    const args = ["run", "-A", "--quiet", "--no-lock", "--config", at("../../../deno.json"), at("_listener_main.ts")];
    const limited = ["-c", 'ulimit -n 120; exec "$0" "$@"', Deno.execPath(), ...args];
    await using child = new Deno.Command("sh", { args: limited, stdin: "piped", stdout: "piped" }).spawn();
    const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const read = async (): Promise<string> => (await lines.read()).value ?? "";
    const url = (await read()).trim();
    const slow = await fetch(`${url}slow`);
    const sockets: Socket[] = [];
    const told = read();
    try {
      // Connections above the limit wait or are refused.
      for (let count = 0; count < 150; count++) sockets.push(unfinished(Number(new URL(url).port)));
      assert.match(await told, /^failed: .*[Tt]oo many open files/);
      assert.equal(await slow.text(), "0 1 2 3 4 5 6 7 8 9 ");
      assert.equal(await (await fetch(url)).text(), "here");
      await child.stdin.close();
      assert.equal(await read(), "closed\n");
    } finally {
      for (const socket of sockets) socket.destroy();
      await lines.cancel();
    }
  },
});
