const ELF: Readonly<Record<number, string>> = { 0x3e: "x86_64-unknown-linux-gnu", 0xb7: "aarch64-unknown-linux-gnu" };
const MACH_O: Readonly<Record<number, string>> = {
  0x01000007: "x86_64-apple-darwin",
  0x0100000c: "aarch64-apple-darwin",
};
const PE: Readonly<Record<number, string>> = { 0x8664: "x86_64-pc-windows-msvc", 0xaa64: "aarch64-pc-windows-msvc" };

export function executableTarget(head: Uint8Array): string | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (head.byteLength < 64) return null;
  if (view.getUint32(0) === 0x7f454c46) return ELF[view.getUint16(18, true)] ?? null;
  if (view.getUint32(0, true) === 0xfeedfacf) return MACH_O[view.getUint32(4, true)] ?? null;
  if (view.getUint16(0) !== 0x4d5a) return null;
  const at = view.getUint32(60, true);
  return at + 6 <= head.byteLength && view.getUint32(at) === 0x50450000
    ? PE[view.getUint16(at + 4, true)] ?? null
    : null;
}
