import assert from "node:assert/strict";
import fc from "fast-check";
import { CodecError, encode } from "../../../src/sandbox/codec/codec.ts";
import { CallRegistry } from "../../../src/sandbox/host/_call_registry.ts";
import { readRunReport, Requests } from "../../../src/sandbox/host/_child_link.ts";
import { BlockOutput } from "../../../src/sandbox/host/open_sandbox.ts";
import { type Bytes, type Frame, type Header, ProtocolError, wireId } from "../../../src/sandbox/protocol.ts";
import { runs } from "../../helpers/long_part.ts";
import { heldBytes, testSandbox } from "../../helpers/sandbox.ts";
import { PLAIN_REPORT } from "../plain_report.ts";

/** Runs end in time on a slow machine. A failure prints its seed and path, which repeat it. */
const BOUNDED = { numRuns: runs(75, 300), interruptAfterTimeLimit: 8000, markInterruptAsFailure: false } as const;

const RUNS = [wireId(), wireId()];
const IDS = Array.from({ length: 5 }, wireId);
const junk = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(null, "", -1, NaN, "__proto__", { toString: 1 }));
const bytes = fc.uint8Array({ maxLength: 64 }).map((it): Bytes => new Uint8Array(it));
const payload = fc.oneof(bytes, fc.constantFrom(encode([]), encode([1, "a"]), encode({ a: 1 }), encode("text")));

/** The frames are mostly right, so that they get far. */
const call = fc.record({
  t: fc.constantFrom("call", "cancel"),
  id: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...IDS) }, { weight: 1, arbitrary: junk }),
  run: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...RUNS) }, { weight: 1, arbitrary: junk }),
  name: fc.oneof({ weight: 4, arbitrary: fc.constantFrom("f", "fails") }, { weight: 1, arbitrary: junk }),
}).map((it) => it as unknown as Header);

function refused(run: () => void): boolean {
  try {
    run();
    return false;
  } catch (error) {
    assert.ok(error instanceof ProtocolError || error instanceof CodecError, String(error));
    return true;
  }
}

Deno.test("CallRegistry answers each call that it takes exactly once, whatever a child sends", async () => {
  const frames = fc.array(fc.record({ header: call, payload }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(frames, async (list: readonly Frame[]) => {
      const answered: unknown[] = [];
      const onCall = (one: { readonly name: string; readonly args: readonly unknown[] }): Promise<unknown> =>
        one.name === "fails" ? Promise.reject(new Error("no")) : Promise.resolve(one.args.length);
      const registry = new CallRegistry({ functions: ["f", "fails"], onCall, send: ({ id }) => answered.push(id) });
      for (const run of RUNS) registry.beginRun(run, { iteration: 1, index: 0 });
      const taken: unknown[] = [];
      for (const frame of list) {
        const isCall = frame.header.t === "call";
        if (refused(() => isCall ? registry.receive(frame) : registry.cancel(frame))) break; // The child is killed.
        if (isCall) taken.push(frame.header["id"]);
      }
      await new Promise((done) => setTimeout(done, 0));
      assert.deepEqual(answered.toSorted(), taken.toSorted());
      assert.equal(new Set(taken).size, taken.length);
      assert.equal(registry.room(), null);
    }),
    { ...BOUNDED, numRuns: runs(50, 150) },
  );
});

const REPORT = { ...PLAIN_REPORT, defined: ["a"], notes: ["note"] };
const OBSERVED = { stdout: "", stderr: "", calls: [], ms: 1 };

Deno.test("readRunReport() reads a report or throws ProtocolError or CodecError, whatever a child puts into it", () => {
  const wrong = fc.tuple(fc.constantFrom(...Object.keys(REPORT)), junk);
  fc.assert(
    fc.property(fc.array(wrong, { maxLength: 2 }), junk, (changes, error) => {
      const header = { t: "done", error } as unknown as Header;
      const report = { ...REPORT, ...Object.fromEntries(changes) };
      refused(() => {
        const { result, saved, notes } = readRunReport({ payloads: [encode(report)], header }, OBSERVED);
        assert.equal(typeof result.preview, "string");
        assert.ok(Array.isArray(saved) && notes.every((note) => typeof note === "string"));
        for (const name of result.defined) assert.match(name, /^[\p{ID_Start}$_]/u);
      });
    }),
    BOUNDED,
  );
});

Deno.test("readRunReport() survives damaged bytes of a real report", () => {
  const whole = encode({ ...REPORT, preview: "x".repeat(3000), value: new Uint8Array(50) });
  const header: Header = { t: "done", error: null };
  fc.assert(
    fc.property(
      fc.array(fc.nat(whole.length * 8 - 1), { minLength: 1, maxLength: 6 }),
      fc.nat(whole.length),
      (bits, to) => {
        const damaged = whole.slice(0, to);
        for (const bit of bits) if (bit >> 3 < to) damaged[bit >> 3]! ^= 1 << (bit & 7);
        refused(() => void readRunReport({ payloads: [damaged], header }, OBSERVED));
      },
    ),
    BOUNDED,
  );
});

Deno.test("Requests and BlockOutput accept only requested frames that a child may send", () => {
  const header = fc.record({
    t: fc.constant("done"),
    id: fc.oneof(fc.constantFrom(...IDS), junk),
    more: junk,
    stream: junk,
  });
  fc.assert(
    fc.property(fc.array(fc.record({ header, payload: bytes }), { maxLength: 10 }), (list) => {
      const nothing = (): void => {};
      const requests = new Requests({ send: nothing, sendLater: nothing, kill: nothing });
      requests.begin().answer.catch(() => {});
      const output = new BlockOutput(100, undefined);
      for (const frame of list as unknown as readonly Frame[]) {
        assert.equal(refused(() => requests.receive(frame)), true);
        refused(() => output.receive(frame));
      }
      assert.ok(output.stdout.length + output.stderr.length <= 100);
      requests.end("the test is over");
    }),
    BOUNDED,
  );
});

Deno.test("Requests accept an answer that is as large as the memory of the child, and refuse a larger one", () => {
  const nothing = (): void => {};
  for (const [memoryBytes, most] of [[undefined, 2 ** 30], [2 ** 31, 2 ** 31]] as const) {
    const requests = new Requests({ send: nothing, sendLater: nothing, kill: nothing }, { memoryBytes });
    const { id, answer } = requests.begin();
    answer.catch(() => {});
    const receive = (length: number): void =>
      requests.receive({ header: { t: "done", id, more: true }, payload: { length } } as unknown as Frame);
    receive(most);
    assert.throws(() => receive(1), { message: new RegExp(`it has ${most + 1} bytes; the limit is ${most}`) });
  }
});

const CHILD = new URL("./fuzzing_child.ts", import.meta.url).pathname;
const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

let denoDirFound = "";

/** Returns the cache of packages, which a child with its own environment would not find. */
function denoDir(): string {
  if (denoDirFound === "") {
    const { stdout } = new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).outputSync();
    denoDirFound = JSON.parse(new TextDecoder().decode(stdout)).denoDir;
  }
  return denoDirFound;
}

/** Returns the outcome of a block whose child sends the script and then ends, floods or stalls. */
async function against(script: string, end: "exit" | "flood" | "stall"): Promise<string> {
  const args = ["run", "-A", "--no-check", "--no-lock", "--config", CONFIG, CHILD, script, end];
  await using box = await testSandbox({
    functions: { f: () => new Promise(() => {}) },
    test: { program: { path: Deno.execPath(), args, env: { DENO_DIR: denoDir() } } },
  });
  const { result } = await box.run("1", { deadlineMs: 300 });
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(JSON.stringify(result.error), /[\u0000-\u001f\u007f-\u009f]/);
  return `${result.outcome}: ${result.error?.message ?? ""}`;
}

const hex = (it: Uint8Array): string => Array.from(it, (byte) => byte.toString(16).padStart(2, "0")).join("");
const RUN = "0".repeat(32);

/** Returns a frame in the language of the fuzzing child, in which `R` is the id of the run. */
function scriptOf(header: Header, body: Uint8Array): string {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const lengths = new Uint8Array(new Uint32Array([json.length, body.length]).buffer);
  return `${hex(lengths)}${hex(json).replaceAll(hex(new TextEncoder().encode(RUN)), "R")}${hex(body)}`;
}

const FRAMES = [
  scriptOf({ t: "done", id: RUN, more: false, error: null }, encode(REPORT)),
  scriptOf({ t: "call", id: wireId(), run: RUN, name: "f" }, encode([1])),
  scriptOf({ t: "output", run: RUN, stream: 1, dropped: 0 }, new TextEncoder().encode("hello")),
  scriptOf({ t: "done", id: RUN, more: true, error: null }, encode([])),
];

/** Changes hexadecimal digits, cuts, repeats or inserts. */
const mutated = fc.tuple(
  fc.array(fc.constantFrom(...FRAMES), { minLength: 1, maxLength: 3 }),
  fc.constantFrom("change", "cut", "repeat", "insert"),
  fc.nat(),
  bytes,
).map(([frames, how, where, some]) => {
  const script = frames.join("");
  const at = where % script.length;
  const even = at - [...script.slice(0, at)].filter((c) => c !== "R").length % 2;
  if (how === "cut") return script.slice(0, even);
  if (how === "repeat") return script.slice(0, even) + script;
  if (how === "insert") return script.slice(0, even) + hex(some) + script.slice(even);
  return /[0-9a-f]/.test(script[at] ?? "")
    ? `${script.slice(0, at)}${(where % 16).toString(16)}${script.slice(at + 1)}`
    : script;
});

Deno.test("a child that sends damaged frames and ends hurts neither the main process nor a neighbour", async () => {
  await using neighbour = await testSandbox();
  await neighbour.run("let n = 0");
  const before = heldBytes();
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(mutated, mutated, async (one, other) => {
      for (const outcome of await Promise.all([against(one, "exit"), against(other, "exit")])) {
        seen.add(outcome);
      }
      assert.ok(Number(await neighbour.show("++n")) > 0);
    }),
    { numRuns: runs(12, 40), interruptAfterTimeLimit: 15_000, endOnFailure: true },
  );
  assert.ok(heldBytes() - before < 200 << 20);
  assert.ok([...seen].some((outcome) => outcome.startsWith("killed: ")), [...seen].join("\n"));
});

Deno.test("a child that floods or stalls in the middle of a frame is killed, and memory stays bounded", async () => {
  await using neighbour = await testSandbox();
  const before = heldBytes();
  const half = FRAMES[0]!.slice(0, 200);
  const large = `${hex(new Uint8Array(new Uint32Array([9, 64 << 20]).buffer))}${
    hex(new TextEncoder().encode('{"t":"x"}'))
  }`;
  const outcomes = await Promise.all([
    against("", "flood"),
    against(half, "flood"),
    against("00".repeat(8), "flood"),
    against(half, "stall"),
    against("00", "stall"),
    against(large, "stall"),
  ]);
  for (const outcome of outcomes) assert.match(outcome, /^killed: The sandbox ended: /);
  assert.match(outcomes[0] ?? "", /its header would have/);
  for (const outcome of outcomes.slice(3)) assert.match(outcome, /did not stop/);
  assert.ok(heldBytes() - before < 300 << 20, `${(heldBytes() - before) >> 20} MiB`);
  assert.equal(await neighbour.show("1 + 1"), "2");
});
