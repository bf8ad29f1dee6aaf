import { join, resolve } from "node:path";
import { Cancelled, ConfigError, fileFault, messageOf, UsageError } from "../../domain/errors.ts";
import { isSecureUrl } from "../../domain/kit/addresses.ts";
import { readBounded } from "../../domain/kit/bytes.ts";

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
