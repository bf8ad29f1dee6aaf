/** Speaks the protocol as a sandbox child on a machine without the kernel's walls does, and ends with its stdin. */
import { frameHead, readFrameSync } from "../../../src/sandbox/protocol.ts";

readFrameSync((into) => Deno.stdin.readSync(into));
const kernel = { landlock: 0, seccomp: false };
const walls = { realm: true, permissions: true, process: true, kernel, failed: ["this kernel has no Landlock"] };
const bytes = frameHead({ header: { t: "ready", version: 1, walls, ms: 1 }, payloadBytes: 0 });
for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
while (Deno.stdin.readSync(new Uint8Array(1024)) !== null) continue;
