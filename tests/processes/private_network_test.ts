import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { PROC } from "../../src/processes/proc_files.ts";
import type { LinuxWall } from "../../src/processes/linux/linux_wall.ts";
import { mayMake, place } from "./_place.ts";
import { call } from "../helpers/system_calls.ts";

const ignore = !mayMake;
const SERVE =
  `use Socket; socket(S, AF_INET, SOCK_STREAM, 0) or die "socket: $!"; bind(S, sockaddr_in(8123, INADDR_LOOPBACK)) or die;
listen(S, 5); $| = 1; print "up\\n"; while (accept(C, S)) { print C "hello"; close C }`;
const connect = (address: string, port: number): string =>
  `use Socket; socket(S, AF_INET, SOCK_STREAM, 0) or die "socket: $!\\n";
connect(S, sockaddr_in(${port}, inet_aton("${address}"))) or die "connect: $!\\n"; print <S>`;

async function perl(
  wall: LinuxWall,
  code: string,
  { workspace, loopback }: { workspace: string; loopback?: string },
) {
  const { stdout, stderr } = await wall.spawn(workspace, ["/usr/bin/perl", "-e", code], loopback ? { loopback } : {});
  return stdout || stderr;
}

async function withServer(wall: LinuxWall, workspace: string, work: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const up = Promise.withResolvers<void>();
  const server = wall.spawn(workspace, ["/usr/bin/perl", "-e", SERVE], {
    loopback: "one",
    stop: stop.signal,
    onOutput: () => up.resolve(),
  });
  await Promise.race([up.promise, server]);
  try {
    await work();
  } finally {
    stop.abort();
    await server;
  }
}

Deno.test(
  "commands of a conversation reach each other's servers, and nothing else",
  { ignore },
  () =>
    place(async ({ wall, workspace }) => {
      const outside = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const { port } = outside.addr;
      await withServer(wall, workspace, async () => {
        const at = { workspace, loopback: "one" };
        assert.equal(await perl(wall, connect("127.0.0.1", 8123), at), "hello");
        assert.match(await perl(wall, connect("127.0.0.1", port), at), /connect: Connection refused/);
        assert.match(await perl(wall, connect("192.0.2.1", 80), at), /connect: Network is unreachable/);
        const other = { workspace, loopback: "two" };
        assert.match(await perl(wall, connect("127.0.0.1", 8123), other), /connect: Connection refused/);
        assert.match(await perl(wall, connect("127.0.0.1", 8123), { workspace }), /socket: Operation not permitted/);
      });
      assert.match(
        await perl(wall, connect("127.0.0.1", 8123), { workspace, loopback: "one" }),
        /connect: Connection refused/,
      );
      outside.close();
      assert.equal((await wall.walls()).loopback, true);
    }),
);

Deno.test("a command joins the network of the one before it, which had joined it too", {
  ignore: ignore || Deno.uid() === 0, // For root, the network has no other owner.
}, () =>
  place(async ({ wall, workspace }) => {
    const start = async (): Promise<() => Promise<unknown>> => {
      const stop = new AbortController(), up = Promise.withResolvers<void>();
      const argv = ["/bin/sh", "-c", "echo up; exec sleep 60"];
      const running = wall.spawn(workspace, argv, { loopback: "one", stop: stop.signal, onOutput: () => up.resolve() });
      await Promise.race([up.promise, running]);
      return async () => {
        stop.abort();
        await running;
      };
    };
    let end = await start();
    for (let times = 0; times < 3; times++) {
      const endNext = await start();
      await end();
      end = endNext;
    }
    await end();
    assert.equal((await wall.walls()).reason, "");
  }));

Deno.test(
  "no service of this machine is reached from a private network by another kind of socket",
  { ignore },
  () =>
    place(async ({ wall, workspace, outside }) => {
      const at = { workspace, loopback: "one" };
      const made = (family: number, type: number, protocol = 0): Promise<string> =>
        perl(wall, `print syscall(${call("socket")}, ${family}, ${type}, ${protocol}) >= 0 ? "made" : "refused"`, at);
      assert.deepEqual([await made(2, 1), await made(2, 2), await made(10, 1), await made(16, 3)], [
        "made",
        "made",
        "made",
        "made",
      ]);
      // These are packet, raw, other netlink and vsock sockets.
      for (const [family, type, protocol] of [[17, 3, 0], [2, 3, 1], [16, 3, 15], [40, 1, 0]] as const) {
        assert.equal(await made(family, type, protocol), "refused", `${family} ${type} ${protocol}`);
      }
      const bus =
        `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un("${outside}/bus")) && print "got it"`;
      assert.equal(await perl(wall, bus, at), "");
    }),
);

Deno.test(
  "a program is never left in the machine's own network where it must have one of its own",
  { ignore },
  () =>
    place(async ({ wall, workspace }) => {
      const own = await perl(wall, "print readlink '/proc/self/ns/net'", { workspace, loopback: "one" });
      assert.match(own, /^net:\[\d+\]$/);
      assert.notEqual(own, PROC.link("/proc/self/ns/net"));
    }),
);

/** Asks a name server on this machine for the address of a name by UDP, as a resolver does. */
const lookUp = (port: number): string =>
  `use Socket; socket(S, AF_INET, SOCK_DGRAM, 0) or die "socket: $!\\n";
connect(S, sockaddr_in(${port}, INADDR_LOOPBACK)) or die "connect: $!\\n";
send(S, pack("n6", 7, 256, 1, 0, 0, 0) . "\\7example\\4test\\0" . pack("n2", 1, 1), 0) or die "send: $!\\n";
defined recv(S, $a, 512, 0) or die "recv: $!\\n"; print inet_ntoa(substr($a, -4))`;

Deno.test("a command with network access looks a name up by UDP, and no other command reaches the name server", {
  ignore,
}, () =>
  place(async ({ wall, workspace }) => {
    const names = createSocket("udp4"), questions: number[] = [];
    names.on("message", (question, { port, address }) => {
      questions.push(question.readUInt16BE(0));
      const answer = Buffer.concat([question, Buffer.from("c00c0001000100000000000401020304", "hex")]);
      answer.writeUInt16BE(0x8180, 2);
      answer.writeUInt16BE(1, 6);
      names.send(answer, port, address);
    });
    await once(names.bind(0, "127.0.0.1"), "listening");
    try {
      const code = lookUp(names.address().port);
      const { stdout, stderr } = await wall.spawn(workspace, ["/usr/bin/perl", "-e", code], { network: true });
      assert.equal(stdout, "1.2.3.4", stderr);
      assert.match(await perl(wall, code, { workspace }), /socket: Operation not permitted/);
      assert.match(await perl(wall, code, { workspace, loopback: "one" }), /(send|recv): Connection refused/);
      assert.deepEqual(questions, [7]);
    } finally {
      names.close();
    }
  }));
