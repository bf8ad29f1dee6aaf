/** Compiled with the same options as the program and run once: `main <folder>` evaluates the sandbox's scripts in the
 * folder as a child does, runs a few blocks, and writes V8's code cache of each script next to it. The caches then
 * contain what a start and an ordinary block need, and nothing unused. */
import { recorded } from "./_code_cache_record.ts";
import { encode } from "../src/sandbox/codec/codec.ts";
import { PROTOCOL_VERSION, wireId } from "../src/sandbox/protocol.ts";
import type { FrameWriter } from "../src/sandbox/child/relay/frame_writer.ts";
import type { WorkerStart } from "../src/sandbox/child/link/messages.ts";
import type { Relay } from "../src/sandbox/child/relay/relay.ts";
import { loadRelay } from "../src/sandbox/child/relay/loader.ts";
import { ALL_WALLS, type Setup } from "../src/sandbox/child/setup/setup.ts";
import { sucraseLoader } from "../src/sandbox/child/prepare/sucrase_loader.ts";

const LIMIT_MS = 30_000;
/** The kinds of statement that models write; one of them is TypeScript that only the slower stripper supports. */
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
  access: { globals: [], net: [], ports: [], read: [], write: [], env: [], workspace: "" },
};

async function make(folder: string): Promise<void> {
  const scriptOf = (name: string) => ({ text: Deno.readTextFileSync(`${folder}/${name}.js`) });
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const channel = new MessageChannel(), caches = new MessageChannel();
  const { functions, untimed, outputBytes, previewChars, access } = SETUP;
  const given = { functions, untimed, outputBytes, previewChars, access, constants: encode({}), emptyRealm: true };
  const start: WorkerStart = { script: scriptOf("worker_script"), setup: { ...given, port: channel.port2 } };
  worker.postMessage({ ...start, cachePort: caches.port2 }, [channel.port2, caches.port2]);

  const waiting = new Map<string, () => void>();
  const writer = {
    send: ({ t, id = "" }: { readonly t: string; readonly id?: string }): void => {
      if (t === "call") relay.receive({ header: { t: "answer", id, ok: true }, payload: encode("x") });
      else waiting.get(id)?.();
      relay.link.forward();
    },
    together: (write: () => void): void => write(),
  } as unknown as FrameWriter;
  const up = Promise.withResolvers<void>();
  const loadSucrase = sucraseLoader(scriptOf("sucrase"));
  const relay: Relay = loadRelay(scriptOf("relay"), { setup: SETUP, writer, port: channel.port1, loadSucrase });
  relay.onUp = () => up.resolve();
  await up.promise;
  for (const [index, code] of BLOCKS.entries()) {
    const id = wireId();
    const done = new Promise<void>((resolve) => waiting.set(id, resolve));
    relay.receive({ header: { t: "run", id, iteration: 1, index, deadlineMs: 5000 }, payload: encode(code) });
    await done;
  }
  const got = new Promise<Uint8Array>((resolve) => caches.port1.onmessage = ({ data }) => resolve(data));
  caches.port1.postMessage(null);
  Deno.writeFileSync(`${folder}/worker_script.cache`, await got);
  for (const name of ["relay", "sucrase"]) {
    const cache = recorded.get(`sandbox.${name}`)?.createCachedData();
    if (!cache) throw new Error(`Cannot make a code cache: ${name} was not evaluated`);
    Deno.writeFileSync(`${folder}/${name}.cache`, cache);
  }
}

setTimeout(() => Deno.exit(1), LIMIT_MS);
await make(Deno.args[0] ?? "");
Deno.exit(0);
