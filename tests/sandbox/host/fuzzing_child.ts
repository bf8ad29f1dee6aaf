/** Speaks the protocol. In answer to a run, it sends the bytes of its first argument (hexadecimal, `R` is the id of the
 * run). "stall" stops in the middle of them. */
import { frameHead, FrameReader, readFrameSync } from "../../../src/sandbox/protocol.ts";

const [script = "", end = ""] = Deno.args;
readFrameSync((into) => Deno.stdin.readSync(into));
const WALLS = { realm: true, permissions: true, process: true, kernel: { landlock: 7, seccomp: true }, failed: [] };

function raw(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

function bytesOf(run: string): Uint8Array[] {
  return script.split(/(?=R)|(?<=R)/).map((part) => {
    if (part === "R") return new TextEncoder().encode(run);
    return Uint8Array.from(part.match(/../g) ?? [], (hex) => parseInt(hex, 16));
  });
}

raw(frameHead({ header: { t: "ready", version: 1, walls: WALLS, ms: 1 }, payloadBytes: 0 }));
const reader = new FrameReader();
const buffer = new Uint8Array(1 << 16);
for (let got = await Deno.stdin.read(buffer); got !== null; got = await Deno.stdin.read(buffer)) {
  reader.push(buffer.subarray(0, got), ({ header }) => {
    if (header.t !== "run") return;
    for (const part of bytesOf(String(header["id"]))) raw(part);
    if (end === "exit") Deno.exit(0);
    if (end === "flood") { for (;;) raw(new Uint8Array(1 << 16)); }
  });
}
