import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { connect, type Socket } from "node:net";
import { Listener } from "../../../src/channels/http/connections.ts";
import { ConfigError } from "../../../src/domain/errors.ts";
import { held } from "./_raw.ts";

const answer = () => new Response("here");
const failed = (why: string) => assert.fail(why);
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

function unfinished(port: number): Socket {
  const socket = connect(port, "127.0.0.1", () => void socket.write("GET / HTTP/1.1\r\nX: "));
  return socket.on("error", () => {});
}

Deno.test("Listener takes a free port, and says which address it cannot have", async () => {
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

Deno.test("Listener close() sends what was answered until its time is over, and nothing more without a time", async () => {
  const size = 8 << 20; // more than the buffers of both ends hold
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
  name: "Listener goes on when connections have used up all file descriptors: what asks nothing is dropped",
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
      // Those beyond what can be taken wait or are refused.
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
