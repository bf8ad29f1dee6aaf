import { ALL_WALLS, type Setup } from "../../../src/sandbox/child/setup.ts";
import { encode } from "../../../src/sandbox/codec/codec.ts";
import { childProgram } from "../../../src/sandbox/launch.ts";
import {
  type Bytes,
  type Frame,
  frameHead,
  FrameReader,
  type Header,
  PROTOCOL_VERSION,
} from "../../../src/sandbox/protocol.ts";
import { buildSandbox } from "../../helpers/sandbox.ts";

const SETUP: Setup = {
  version: PROTOCOL_VERSION,
  walls: ALL_WALLS,
  parentPid: Deno.pid,
  memoryBytes: 128 << 20,
  outputBytes: 1 << 20,
  previewChars: 6000,
  functions: ["fs.read", "rlm.run"],
  untimed: ["rlm.run"],
  misnamed: {},
  access: { net: [], ports: [], read: [], write: [], env: [], globals: [], workspace: "/" },
};
const NOTHING: Bytes = new Uint8Array(0);

/** A real child whose messages a test reads and writes byte by byte, as the main process does. */
export class RawChild implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #frames: Frame[] = [];
  readonly #stderr: Promise<string>;
  #wake: () => void = () => {};
  #ended = false;

  constructor() {
    const { path, args } = childProgram({ memoryBytes: SETUP.memoryBytes, allPermissions: false });
    const env = { DENO_DIR: "/dev/null/deno", NO_COLOR: "1" };
    const pipes = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
    this.#process = new Deno.Command(path, { args: [...args], clearEnv: true, env, ...pipes }).spawn();
    this.#writer = this.#process.stdin.getWriter();
    this.#writer.closed.catch(() => {});
    this.#stderr = new Response(this.#process.stderr).text();
    void this.#read();
  }

  static async start(): Promise<RawChild> {
    await buildSandbox();
    const child = new RawChild();
    child.send({ t: "setup", ...SETUP }, encode({}));
    await child.next("ready");
    return child;
  }

  send(header: Header, payload: Bytes = NOTHING): void {
    this.raw(frameHead({ header, payloadBytes: payload.length }));
    this.raw(payload);
  }

  raw(bytes: Uint8Array): void {
    this.#writer.write(bytes).catch(() => {});
  }

  hangUp(): void {
    this.#writer.close().catch(() => {});
  }

  /** Returns the next frame of one of these types; null if the child ends first. */
  async next(...types: readonly string[]): Promise<Frame | null> {
    for (;;) {
      const at = this.#frames.findIndex(({ header }) => types.includes(header.t));
      const [frame] = at < 0 ? [] : this.#frames.splice(at, 1);
      if (frame) return frame;
      if (this.#ended) return null;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  /** Returns its exit code and last words; "late" if it does not end in time. */
  async end(ms = 3000): Promise<string> {
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), ms);
    const { code, signal } = await this.#process.status;
    clearTimeout(timer);
    return signal ? `late: ${signal}` : `${code}: ${await this.#stderr}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#process.kill("SIGKILL");
    } catch { /* The child has already ended. */ }
    await this.#process.status;
    await this.#writer.abort().catch(() => {});
    await this.#stderr;
  }

  async #read(): Promise<void> {
    const reader = new FrameReader();
    for await (const chunk of this.#process.stdout) {
      reader.push(chunk, (frame) => this.#frames.push(frame));
      this.#wake();
    }
    this.#ended = true;
    this.#wake();
  }
}
