import { look } from "../intrinsics/look.ts";

/** 64 bits and the length: enough to detect a change, not a protection against deliberate collisions. */
export function changeHash(bytes: Uint8Array<ArrayBuffer>): string {
  const length = look.viewLength(bytes), byteOffset = look.viewOffset(bytes);
  let a = 0x9e3779b9 ^ length, b = 0x85ebca6b, at = 0;
  if (byteOffset % 4 === 0) {
    const count = length >>> 2;
    const words = new look.Uint32Array(look.viewBuffer(bytes) as ArrayBuffer, byteOffset, count);
    for (let i = 0; i < count; i++) {
      const word = words[i]!;
      a = look.imul(a ^ word, 0x01000193) ^ (a >>> 15);
      b = look.imul(b + word, 0xcc9e2d51) ^ (b >>> 13);
    }
    at = length & ~3;
  }
  for (; at < length; at++) {
    a = look.imul(a ^ bytes[at]!, 0x01000193) ^ (a >>> 15);
    b = look.imul(b + bytes[at]!, 0xcc9e2d51) ^ (b >>> 13);
  }
  return `${length}:${a >>> 0}:${b >>> 0}`;
}
