import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";

/** These bytes precede the 32 bytes of a secret Ed25519 key in DER (RFC 8410). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

export interface SigningKey {
  readonly id: Uint8Array;
  readonly seed: Uint8Array;
}

export function signingKey(text: string): SigningKey {
  const bytes = Buffer.from(text.split("\n")[1] ?? "", "base64");
  if (bytes.length !== 158 || bytes.toString("latin1", 0, 2) !== "Ed") {
    throw new Error("Cannot read the signing key: it is not a secret key of minisign");
  }
  if (bytes[2] !== 0 || bytes[3] !== 0) {
    throw new Error("Cannot read the signing key: it is encrypted; make one without a password with minisign -G -W");
  }
  return { id: bytes.subarray(54, 62), seed: bytes.subarray(62, 94) };
}

export function publicKeyOf({ id, seed }: SigningKey): string {
  const der = createPublicKey(privateKey(seed)).export({ format: "der", type: "spki" });
  return Buffer.concat([Buffer.from("Ed"), id, der.subarray(-32)]).toString("base64");
}

/** The format has a signature of the file's BLAKE2b hash, and a signature of the first signature with the trusted
 * comment (https://jedisct1.github.io/minisign/#signature-format). */
export function signature(
  bytes: Uint8Array,
  { key, comment }: { readonly key: SigningKey; readonly comment: string },
): string {
  const secret = privateKey(key.seed);
  const signed = sign(null, createHash("blake2b512").update(bytes).digest(), secret);
  const both = sign(null, Buffer.concat([signed, Buffer.from(comment)]), secret);
  const own = Buffer.concat([Buffer.from("ED"), key.id, signed]).toString("base64");
  return `untrusted comment: verify with minisign -P ${publicKeyOf(key)}\n${own}\ntrusted comment: ${comment}\n${
    both.toString("base64")
  }\n`;
}

function privateKey(seed: Uint8Array): ReturnType<typeof createPrivateKey> {
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
}
