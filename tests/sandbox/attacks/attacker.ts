import type { SandboxTestOptions } from "../../../src/sandbox/host/open_sandbox.ts";
import type { RunReport } from "../../../src/sandbox/sandbox.ts";
import { type TestSandbox, testSandbox } from "../../helpers/sandbox.ts";
import type { Attack } from "./attack.ts";
import type { AttackTargets } from "./targets.ts";

export interface Attempt {
  /** The targets that the attack reached; empty if it achieved nothing. */
  readonly reached: readonly string[];
  /** The obstacle: an error's name, "child ended", "no effect". */
  readonly met: string;
}

export interface AttackerOptions {
  readonly targets: AttackTargets;
  readonly walls?: NonNullable<SandboxTestOptions["walls"]>;
  readonly program?: NonNullable<SandboxTestOptions["program"]>;
}

const HEAD = "const got = (x) => { host(x) }; const import_ = globalThis.__import ?? ((x) => import_.no);\n";
/** A nested worker's code range alone is 512 MiB, and it must meet a wall, not the memory limit. */
const LARGE = 1 << 30, SMALL = 128 << 20;
/** The limit for attacks that work without walls, and end. On a busy machine, a worker takes seconds to start. */
const PATIENCE_MS = 30_000;
/** The limit for the next block of a child that may be unable to run any, and then ends. */
const NEXT_MS = 5000;
/** The wait is longer than the deadline, because such loops are hard to stop. */
const LATE_MS = 2500;
// deno-lint-ignore no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** Runs attacks in children that share their walls. A child that an attack has ended or changed gets a successor. */
export class Attacker {
  readonly #options: AttackerOptions;
  readonly #handed: unknown[] = [];
  #box: TestSandbox | null = null;
  #small = false;

  constructor(options: AttackerOptions) {
    this.#options = options;
  }

  async run(attack: Attack): Promise<Attempt> {
    const { targets } = this.#options;
    const box = await this.#child(attack);
    const deadlineMs = Math.max(attack.deadlineMs, attack.control ? PATIENCE_MS : 0);
    const begun = performance.now();
    const report = await box.run(`${HEAD}${attack.code}`, { deadlineMs });
    const late = performance.now() - begun > deadlineMs + LATE_MS;
    if (!box.sandbox.ended) {
      await box.run("if (typeof leak !== 'undefined') host(String(leak?.readTextFileSync?.(T.secret)))");
    }
    const reached = await targets.reached(this.#handed.splice(0));
    if (/signal a stranger/.test(attack.name) && await targets.signalled()) reached.push("signal");
    if (late) reached.push("time");
    reached.push(...misleading(report), ...await this.#harm(attack, box));
    if (attack.dirty) await box.sandbox.close();
    return { reached, met: metBy(report) };
  }

  async close(): Promise<void> {
    await this.#box?.sandbox.close();
  }

  async #harm({ mayEnd, dirty }: Attack, box: TestSandbox): Promise<string[]> {
    if (!box.sandbox.ended) {
      const limit = mayEnd ? { deadlineMs: NEXT_MS } : {};
      const { result } = await box.run(dirty ? "1 + 1" : "attackKept + 1", { iteration: 2, ...limit });
      if (!box.sandbox.ended && result.preview !== "2") return [`next block: ${result.error?.message}`];
    }
    return box.sandbox.ended && !mayEnd ? ["variables lost"] : [];
  }

  async #child({ small }: Attack): Promise<TestSandbox> {
    if (this.#box && !this.#box.sandbox.ended && this.#small === small) return this.#box;
    await this.#box?.sandbox.close();
    this.#small = small;
    return this.#box = await this.#open();
  }

  async #open(): Promise<TestSandbox> {
    const { targets, walls, program } = this.#options;
    const box = await testSandbox({
      functions: {
        host: ({ args: [text] }) => void this.#handed.push(text),
        "fs.readFile": () => ({ text: "nothing" }),
        "fs.fail": () => Promise.reject(new Error("no")),
        "fs.never": () => new Promise(() => {}),
      },
      limits: { memoryBytes: this.#small ? SMALL : LARGE, graceMs: 800 },
      test: { ...(walls ? { walls } : {}), ...(program ? { program } : {}) },
    });
    await box.sandbox.bind("T", targets.facts, { user: true });
    await box.run("globalThis.attackKept = 1");
    return box;
  }
}

/** Returns the text of a report that would reach a terminal or a prompt without a bound. */
function misleading({ result, notes }: RunReport): string[] {
  const { stdout, stderr, preview, error } = result;
  const texts = [stdout, stderr, preview, ...notes, ...Object.values(error ?? {}).map(String)];
  const found: string[] = [];
  if (texts.some((text) => CONTROL.test(text))) found.push("control characters");
  if (stdout.length + stderr.length > 1 << 20) found.push("output");
  if (texts.slice(2).some((text) => text.length > 10_000)) found.push("a long text");
  return found;
}

function metBy({ result: { outcome, error } }: RunReport): string {
  if (outcome === "killed" || outcome === "memory") return "child ended";
  if (outcome === "timeout") return "deadline";
  if (outcome === "value" || outcome === "none") return "no effect";
  return error?.name.replace(/[^\w]/g, "") || outcome;
}
