/** This program evaluates the sandbox's scripts like a child and runs a few blocks. V8's code caches of the scripts then
 * have only code that ordinary blocks need. */
import { endProcess } from "../src/sandbox/child/main.ts";
import { loadBlocks } from "../src/sandbox/child/scripts.ts";
import { ALL_WALLS, type Setup } from "../src/sandbox/child/setup.ts";
import { encode } from "../src/sandbox/codec/codec.ts";
import { type Bytes, type Frame, frameHead, FrameReader, PROTOCOL_VERSION, wireId } from "../src/sandbox/protocol.ts";
import { recorded } from "./_code_cache_record.ts";

const LIMIT_MS = 30_000;
/** Models write statements of these kinds. Some use TypeScript that only the slower stripper supports. */
const BLOCKS = [
  "1 + 1",
  "const text: string = `a ${[1, 2].map((x) => x * 2).join()}`;\nconsole.log(text);\n({ text, when: new Date(0), all: new Map([[1, text]]) })",
  "interface Named { name: string }\nfunction nameOf<T extends Named>(it: T): string { return it.name }\nawait tools.echo(nameOf({ name: text }))",
  "class Counter { #n = 0; add(by = 1) { this.#n += by; return this.#n } }\nconst counter = new Counter();\nfor (const by of [1, 2]) counter.add(by);\ncounter",
  "let [first, ...rest] = Object.entries({ a: 1, b: [2] });\nrest",
  "throw new TypeError('shown')",
];

const SETUP: Setup = {
  version: PROTOCOL_VERSION,
  walls: ALL_WALLS,
  parentPid: 0,
  memoryBytes: 256 << 20,
  outputBytes: 1 << 20,
  previewChars: 6000,
  functions: ["tools.echo"],
  untimed: [],
  misnamed: {},
  access: { globals: [], net: [], ports: [], read: [], write: [], env: [], workspace: "" },
};

class OwnPipe {
  readonly #reader = new FrameReader();
  readonly #sent: Bytes[] = [];
  #wake: () => void = () => {};
  onFrame: (frame: Frame) => void = () => {};

  /** The script of the child runs blocks only after `begin` has replaced stdin and stdout. */
  begin(): void {
    const readSync = (into: Bytes): number => {
      const bytes = this.#sent.shift()!;
      into.set(bytes);
      return bytes.length;
    };
    Reflect.set(Deno.stdin, "readSync", readSync);
    Reflect.set(Deno.stdin, "read", async (into: Bytes) => {
      while (this.#sent.length === 0) await new Promise<void>((resolve) => this.#wake = resolve);
      return readSync(into);
    });
    Reflect.set(Deno.stdout, "writeSync", (bytes: Bytes) => {
      this.#reader.push(bytes, (frame) => this.onFrame(frame));
      return bytes.length;
    });
  }

  send(header: Frame["header"], payload: Bytes): void {
    this.#sent.push(frameHead({ header, payloadBytes: payload.length }), payload);
    this.#wake();
  }
}

async function make(folder: string): Promise<void> {
  const { writeFileSync } = Deno; // The child empties the global object.
  const scriptOf = (name: string) => ({ text: Deno.readTextFileSync(`${folder}/${name}.js`) });
  const scripts = { blocks: scriptOf("blocks"), compiler: scriptOf("compiler"), sucrase: scriptOf("sucrase") };
  const pipe = new OwnPipe();
  pipe.begin();
  const ended = Promise.withResolvers<never>();
  const begin = loadBlocks({
    setup: SETUP,
    constants: encode({}),
    scripts,
    end: (why) => ended.reject(new Error(why ?? "it ended")),
    import: () => Promise.reject(new Error("Cannot import a module: the list of modules is empty")),
  }, import.meta.url);
  begin({ process: true, landlock: 0, seccomp: true, failed: [] });
  for (const [index, code] of BLOCKS.entries()) {
    const id = wireId();
    const done = new Promise<void>((resolve) => {
      pipe.onFrame = ({ header }) => {
        if (header.t === "call") pipe.send({ t: "answer", id: header["id"], ok: true }, encode("x"));
        else if (header.t === "done" && header["id"] === id) resolve();
      };
    });
    pipe.send({ t: "run", id, iteration: 1, index, deadlineMs: 5000 }, encode(code));
    await Promise.race([done, ended.promise]);
  }
  for (
    const [name, file] of [["blocks", import.meta.url], ["compiler", "sandbox.compiler"], [
      "sucrase",
      "sandbox.sucrase",
    ]]
  ) {
    const cache = recorded.get(file!)?.createCachedData();
    if (!cache) throw new Error(`Cannot make a code cache: ${name} was not evaluated`);
    writeFileSync(`${folder}/${name}.cache`, cache);
  }
}

const [folder = ""] = Deno.args;
setTimeout(() => endProcess("it took too long"), LIMIT_MS);
await make(folder).then(() => endProcess(null), (error) => endProcess(String(error)));
