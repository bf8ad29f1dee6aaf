import { Buffer } from "node:buffer";
import { createHash, createPublicKey, verify } from "node:crypto";
import { ConfigError } from "../../domain/errors.ts";

/** DER of a public Ed25519 key (RFC 8410) up to its 32 bytes. */
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

/** A public key of minisign (https://jedisct1.github.io/minisign/). */
export class VerifyingKey {
  readonly #id: string;
  readonly #key: ReturnType<typeof createPublicKey>;

  /** Takes what `minisign -P` takes, or the text of a `.pub` file. Throws `ConfigError`. */
  constructor(text: string) {
    const bytes = Buffer.from(text.trim().split("\n").at(-1) ?? "", "base64");
    if (bytes.length !== 42 || bytes.toString("latin1", 0, 2) !== "Ed") {
      throw new ConfigError("Cannot use the key for updates: it is not a public key of minisign", {
        advice: "take the second line of the .pub file",
      });
    }
    this.#id = idOf(bytes);
    this.#key = createPublicKey({ key: Buffer.concat([SPKI, bytes.subarray(10)]), format: "der", type: "spki" });
  }

  /** What is wrong with the text of a `.minisig` file as a signature of these bytes; null if nothing is. */
  fault(bytes: Uint8Array, minisig: string): string | null {
    const [, own = "", comment = "", both = ""] = minisig.split(/\r?\n/);
    const signed = Buffer.from(own, "base64"), global = Buffer.from(both, "base64");
    const trusted = /^trusted comment: (.*)$/.exec(comment)?.[1];
    if (signed.length !== 74 || global.length !== 64 || trusted === undefined) {
      return "it is not a signature of minisign";
    }
    if (signed.toString("latin1", 0, 2) !== "ED") return "it does not sign a BLAKE2b hash";
    if (idOf(signed) !== this.#id) return `it was made with key ${idOf(signed)} instead of ${this.#id}`;
    const signature = signed.subarray(10);
    if (!verify(null, createHash("blake2b512").update(bytes).digest(), this.#key, signature)) {
      return "it does not belong to the file";
    }
    return verify(null, Buffer.concat([signature, Buffer.from(trusted)]), this.#key, global)
      ? null
      : "its trusted comment was changed";
  }
}

/** As minisign prints it: the number is stored with its last byte first. */
function idOf(bytes: Buffer): string {
  return Buffer.from(bytes.subarray(2, 10)).reverse().toString("hex").toUpperCase();
}
