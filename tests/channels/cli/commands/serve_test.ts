import assert from "node:assert/strict";
import { encode } from "uqr";
import type { RunningServer } from "../../../../src/channels/channel.ts";
import { serveCommand } from "../../../../src/channels/cli/commands/serve.ts";
import { ConfigError } from "../../../../src/domain/errors.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

const TOKEN = "secret-token-0123456789";

function fakeServer(closed: string[]): RunningServer {
  return {
    url: "http://127.0.0.1:4711/",
    reached: ["http://192.168.1.7:4711"],
    token: TOKEN,
    tokenFrom: "/home/x/.vis/server-token",
    provider: "demo",
    model: "scripted",
    notes: ["A note\x1b[31m"],
    close: () => Promise.resolve(void closed.push("closed")),
  };
}

Deno.test("serveCommand() puts the URL on the first line, closes at an interrupt and shows no token to a pipe", async () => {
  const closed: string[] = [];
  const io = fakeIo();
  const code = serveCommand({
    services: fakeServices({ serve: () => Promise.resolve(fakeServer(closed)) }),
    io,
    flags: {},
  });
  await Promise.resolve();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(io.out, "http://127.0.0.1:4711/\n");
  assert.deepEqual(closed, []);
  io.interrupt();
  assert.equal(await code, 0);
  assert.deepEqual(closed, ["closed"]);
  assert.ok(!io.err.includes(TOKEN) && !io.err.includes("\x1b"));
  assert.match(io.err, /demo scripted · token from \/home\/x\/\.vis\/server-token/);
  assert.match(
    io.err,
    /vis · open http:\/\/127\.0\.0\.1:4711\/ in a browser, and enter the token in \/home\/x\/\.vis\/server-token\n/,
  );
  assert.match(
    io.err,
    /open the address that this command prints: echo "http:\/\/127\.0\.0\.1:4711\/#token=\$\(cat \/home\/x\/\.vis\/server-token\)"\n/,
  );
});

Deno.test("serveCommand() shows a QR code of the address for other machines, on a terminal only", async () => {
  const run = async (terminal: boolean, facts: Partial<RunningServer> = {}): Promise<string> => {
    const io = fakeIo({ stdoutIsTerminal: terminal, stderrIsTerminal: terminal });
    const server = { ...fakeServer([]), ...facts };
    const code = serveCommand({
      services: fakeServices({ serve: () => Promise.resolve(server) }),
      io,
      flags: { qr: true },
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    io.interrupt();
    await code;
    return io.err;
  };
  const { data } = encode(`http://192.168.1.7:4711/#token=${TOKEN}`, { border: 2 });
  const shown = (await run(true)).split("\n").filter((line) => /[█▀▄]/.test(line));
  assert.equal(shown.length, Math.ceil(data.length / 2));
  const half = (at: number): string =>
    shown.map((line) => [...line].map((one) => " ▄▀█".indexOf(one) >> at & 1)).join();
  assert.equal(
    half(1),
    data.filter((_, row) => row % 2 === 0).map((row) => row.map((isDark) => Number(!isDark))).join(),
  );
  assert.match(await run(false), /Cannot show a QR code: stdout or stderr is not a terminal\n/);
  assert.match(await run(true, { reached: [] }), /Cannot show a QR code: Vis knows no address for other machines/);
  assert.match(await run(true), /show it to nobody/);
  assert.match(await run(true, { token: null }), /scan the code with a phone\n/);
});

Deno.test("serveCommand() gives a terminal the address that signs the user in", async () => {
  const io = fakeIo({ stdoutIsTerminal: true, stderrIsTerminal: true });
  const code = serveCommand({
    services: fakeServices({ serve: () => Promise.resolve(fakeServer([])) }),
    io,
    flags: {},
  });
  await new Promise((resolve) => setTimeout(resolve, 0));
  io.interrupt();
  await code;
  assert.equal(io.out, `http://127.0.0.1:4711/#token=${TOKEN}\n`);
  assert.ok(!io.err.includes(TOKEN));
  assert.match(io.err, /vis · open the address in a browser: it contains the token and signs you in/);
});

Deno.test("serveCommand() does not choose one of several tokens: a terminal gets the URL, and the user enters a token", async () => {
  const io = fakeIo({ stdoutIsTerminal: true, stderrIsTerminal: true });
  const server = { ...fakeServer([]), token: null };
  const code = serveCommand({ services: fakeServices({ serve: () => Promise.resolve(server) }), io, flags: {} });
  await new Promise((resolve) => setTimeout(resolve, 0));
  io.interrupt();
  assert.equal(await code, 0);
  assert.equal(io.out, "http://127.0.0.1:4711/\n");
  assert.match(io.err, /vis · open the address in a browser, and enter your token\n/);
  assert.doesNotMatch(io.err, /null/);
});

Deno.test("serveCommand() with --open opens the page, and reports why no browser opened", async () => {
  for (const [token, address] of [[TOKEN, `http://127.0.0.1:4711/#token=${TOKEN}`], [null, "http://127.0.0.1:4711/"]]) {
    const io = fakeIo(), closed: string[] = [], asked: string[] = [];
    const services = fakeServices({
      serve: () => Promise.resolve({ ...fakeServer(closed), token: token ?? null }),
      openBrowser: (one) => {
        asked.push(one);
        io.interrupt();
        return Promise.resolve({
          problem: Promise.resolve("xdg-open failed"),
          close: () => Promise.resolve(void closed.push("file")),
        });
      },
    });
    assert.equal(await serveCommand({ services, io, flags: { open: true } }), 0);
    assert.deepEqual([asked, closed.sort()], [[address], ["closed", "file"]]);
    assert.match(io.err, /vis · Cannot open a browser: xdg-open failed; open the address yourself\n/);
    assert.ok(!io.err.includes(TOKEN));
  }
});

Deno.test("serveCommand() passes on why it cannot listen", async () => {
  const serve = () => Promise.reject(new ConfigError("Cannot listen on 127.0.0.1:1: taken"));
  await assert.rejects(serveCommand({ services: fakeServices({ serve }), io: fakeIo(), flags: {} }), /Cannot listen/);
});
