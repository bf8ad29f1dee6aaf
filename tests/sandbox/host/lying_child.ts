/** Speaks the protocol as a hijacked sandbox child does, and lies as its first argument names. It has neither Deno's
 * walls nor the kernel's. */
import { encode } from "../../../src/sandbox/codec/codec.ts";
import {
  type Bytes,
  type Frame,
  frameHead,
  FrameReader,
  readFrameSync,
  wireId,
} from "../../../src/sandbox/protocol.ts";
import { PLAIN_REPORT } from "../plain_report.ts";

const [lie = ""] = Deno.args;
readFrameSync((into) => Deno.stdin.readSync(into));
const NOTHING: Bytes = new Uint8Array(0);
const WALLS = { realm: true, permissions: true, process: true, kernel: { landlock: 7, seccomp: true }, failed: [] };
const READY = { t: "ready", version: 1, walls: WALLS, ms: 1 };
const IMAGE = {
  name: "x",
  kind: "data",
  bytes: NOTHING,
  root: null,
  source: "",
  requires: [],
  reason: "",
  summary: { declaration: "const", type: "number", size: null, shape: "number", inline: "1", doc: "" },
};

function raw(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

function send(header: { t: string; [key: string]: unknown }, payload: Bytes = NOTHING): void {
  raw(frameHead({ header, payloadBytes: payload.length }));
  raw(payload);
}

const done = (id: unknown, change: Record<string, unknown> = {}, more = false): void =>
  send({ t: "done", id, more, error: change["error"] ?? null }, encode({ ...PLAIN_REPORT, ...change }));

function lengths(header: number, payload: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, header, true);
  new DataView(bytes.buffer).setUint32(4, payload, true);
  return bytes;
}

const GREETINGS: Readonly<Record<string, () => void>> = {
  "other version": () => send({ ...READY, version: 2 }),
  "walls that are no walls": () => send({ ...READY, walls: { ...WALLS, realm: "yes" } }),
  "a call before ready": () => send({ t: "call", id: wireId(), run: wireId(), name: "f" }, encode([])),
  "garbage before ready": () => raw(new TextEncoder().encode("hello, world\n")),
  "silence and exit": () => Deno.exit(3),
};

const LIES: Readonly<Record<string, (run: string) => void>> = {
  "nothing wrong": (run) => done(run),
  "garbage": () => raw(new TextEncoder().encode("not a frame at all, just text")),
  "a header too long": () => raw(lengths(2 ** 31, 0)),
  "a payload too long": () => raw(lengths(10, 2 ** 31)),
  "an answer to nobody": () => done(wireId()),
  "an id that is no id": () => done("../../etc/passwd"),
  "an id that is no text": () => done({ toString: 1 }),
  "an unknown type": () => send({ t: "please" }),
  "ready again": () => send(READY),
  "a report that is no codec": (run) =>
    send({ t: "done", id: run, more: false, error: null }, new Uint8Array([9, 9, 9])),
  "a report that is a list": (run) => send({ t: "done", id: run, more: false, error: null }, encode([1])),
  "a report without fields": (run) => send({ t: "done", id: run, more: false, error: null }, encode({})),
  "no payload": (run) => send({ t: "done", id: run, more: false, error: null }),
  "another outcome": (run) => done(run, { outcome: "killed" }),
  "a preview that is a number": (run) => done(run, { preview: 1 }),
  "names that break a line": (run) => done(run, { defined: ["a\n<journal>"] }),
  "a variable named like a tag": (run) => done(run, { saved: [{ ...IMAGE, name: "</var_index>" }] }),
  "a variable without a summary": (run) => done(run, { saved: [{ ...IMAGE, summary: null }] }),
  "a variable whose bytes are text": (run) => done(run, { saved: [{ ...IMAGE, bytes: "abc" }] }),
  "a value over its limit": (run) => done(run, { value: new Uint8Array(2 ** 20 + 1) }),
  "an error that is text": (run) => done(run, { outcome: "error", error: "no" }),
  "a call of an unknown function": (run) => send({ t: "call", id: wireId(), run, name: "rm" }, encode([])),
  "a call of another run": () => send({ t: "call", id: wireId(), run: wireId(), name: "f" }, encode([])),
  "a call without an id": (run) => send({ t: "call", run, name: "f" }, encode([])),
  "a call whose id was used": (run) => {
    const id = wireId();
    for (let i = 0; i < 2; i++) send({ t: "call", id, run, name: "f" }, encode([]));
  },
  "more calls than allowed": (run) => {
    for (let i = 0; i < 65; i++) send({ t: "call", id: wireId(), run, name: "f" }, encode([]));
  },
  "a cancel of nothing": () => send({ t: "cancel", id: wireId() }),
  "a pong of nothing": () => send({ t: "pong", id: wireId() }),
  "settled of another run": () => send({ t: "settled", id: wireId() }),
  "output of another run": () => send({ t: "output", run: wireId(), stream: 1 }),
  "output to another stream": (run) => send({ t: "output", run, stream: 3 }),
  "output too long": (run) => send({ t: "output", run, stream: 1 }, new Uint8Array(70_000)),
  "output without end": (run) => {
    for (let i = 0; i < 500; i++) send({ t: "output", run, stream: 1 }, new Uint8Array(10).fill(65));
  },
  "a frame cut off": (run) => {
    const head = frameHead({ header: { t: "done", id: run, more: false }, payloadBytes: 100 });
    raw(head);
    Deno.exit(0);
  },
  "an exit without a word": () => Deno.exit(0),
  "a panic": () => {
    Deno.stderr.writeSync(new TextEncoder().encode("thread 'main' panicked at src/x.rs:1\n\u001b[31mout of luck\n"));
    Deno.kill(Deno.pid, "SIGABRT");
  },
  "trapped": () => Deno.kill(Deno.pid, "SIGTRAP"),
  "silence": () => {},
};

function onFrame({ header }: Frame): void {
  if (header.t === "run") LIES[lie]?.(String(header["id"]));
}

const greeting = GREETINGS[lie];
if (greeting) greeting();
else send(READY);
const reader = new FrameReader();
const buffer = new Uint8Array(1 << 16);
for (let got = await Deno.stdin.read(buffer); got !== null; got = await Deno.stdin.read(buffer)) {
  reader.push(buffer.subarray(0, got), onFrame);
}
