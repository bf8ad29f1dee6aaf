import { Buffer } from "node:buffer";
import { createHash, createPublicKey, verify } from "node:crypto";
import { join, resolve } from "node:path";
import { z } from "zod";
import { Cancelled, ConfigError, fileFault, messageOf, UsageError } from "../../domain/errors.ts";
import { isSecureUrl } from "../../domain/kit/addresses.ts";
import { readBounded } from "../../domain/kit/bytes.ts";

/** `latest.json` of a release: what `vis update` reads first. */
export const ReleaseIndex = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+[\w.-]*$/),
  archives: z.array(z.object({
    target: z.string(),
    /** A file in the same folder. */
    name: z.string().regex(/^vis-[\w.-]+$/),
    bytes: z.number().int().positive(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  })),
  /** The whole CHANGELOG. */
  changelog: z.string(),
});

const TIMEOUT_MS = 600_000;
const MAX_REDIRECTS = 5;

/** The folder with the files of a release: here, or behind an address. */
export class ReleasePlace {
  readonly #from: string;
  readonly #signal: AbortSignal;
  readonly #remote: boolean;

  /** Throws `ConfigError` for an address that others on the network could answer for. */
  constructor(from: string, signal: AbortSignal) {
    this.#remote = /^[a-z][a-z\d+.-]+:\/\//i.test(from);
    if (this.#remote && !isSecureUrl(from)) {
      throw new ConfigError(`Cannot update from ${from}: use an https address or a folder`);
    }
    this.#from = this.#remote ? `${from.replace(/\/+$/, "")}/` : resolve(from);
    this.#signal = signal;
  }

  /** Throws `UsageError` if the file is missing, larger than `maxBytes`, or does not arrive; `Cancelled` after the
   * signal. */
  async read(name: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const at = this.#remote ? new URL(name, this.#from).href : join(this.#from, name);
    const tooLarge = () => new Error(`Over ${maxBytes} bytes`);
    try {
      const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const stream = this.#remote ? await this.#fetched(at, signal) : (await Deno.open(at)).readable;
      return await readBounded(stream, { maxBytes, tooLarge, signal });
    } catch (error) {
      if (this.#signal.aborted) throw new Cancelled("Cancelled");
      throw new UsageError(`Cannot read ${at}: ${this.#remote ? messageOf(error) : fileFault(error)}`);
    }
  }

  async #fetched(url: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    let at = url;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const { ok, status, headers, body } = await fetch(at, { signal, redirect: "manual" });
      if (ok && body) return body;
      await body?.cancel();
      const next = headers.get("location");
      if (status < 300 || status > 399 || next === null) throw new Error(`Status ${status}`);
      at = new URL(next, at).href;
      if (!isSecureUrl(at)) throw new Error("It redirects to an address that is neither https nor on this machine");
    }
    throw new Error("It redirects too often");
  }
}

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
