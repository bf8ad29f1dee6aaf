/** Runs programs in the sandbox. Each is a block, and many share a child. */
import { decode } from "../../../src/sandbox/codec/codec.ts";
import type { RunReport } from "../../../src/sandbox/sandbox.ts";
import { type TestSandbox, testSandbox } from "../../helpers/sandbox.ts";
import { type Outcome, type Place, type Program, textOf } from "./program.ts";
import { PRELUDE, PRELUDE_NAMES } from "./prelude.ts";

export interface BoxedOptions {
  readonly deadlineMs: number;
  readonly places: readonly Place[];
}

export async function runBoxed(
  programs: readonly Program[],
  options: BoxedOptions,
): Promise<ReadonlyMap<Place, readonly Outcome[]>> {
  const found = new Map<Place, Outcome[]>(options.places.map((place) => [place, []]));
  const children = new Children();
  try {
    for (const program of programs) {
      for (const place of options.places) found.get(place)?.push(await runOne(children, { program, place, options }));
    }
  } finally {
    await children.close();
  }
  return found;
}

/** The child that runs the next block. A block that ends its child gets a successor. */
class Children {
  #box: TestSandbox | null = null;

  async next(): Promise<TestSandbox> {
    if (this.#box?.sandbox.ended) await this.close();
    if (this.#box) return this.#box;
    this.#box = await testSandbox({ limits: { memoryBytes: 512 << 20 } });
    await this.#box.show(PRELUDE);
    return this.#box;
  }

  async close(): Promise<void> {
    await this.#box?.sandbox.close();
    this.#box = null;
  }
}

interface One {
  readonly program: Program;
  readonly place: Place;
  readonly options: BoxedOptions;
}

async function runOne(children: Children, { program, place, options: { deadlineMs } }: One): Promise<Outcome> {
  const box = await children.next();
  const show = (value: string): string => place === "top" ? `$text(${value})` : `$show(${value});`;
  const report = await box.run(textOf(program, place, show), { deadlineMs });
  const { ended } = box.sandbox;
  if (!ended) {
    await box.sandbox.endQuery();
    await box.sandbox.forget(report.result.defined.filter((name) => !PRELUDE_NAMES.includes(name)));
  }
  return outcomeOf(report, place === "top" && program.value !== undefined);
}

function outcomeOf({ result, value }: RunReport, hasValue: boolean): Outcome {
  const { error, repaired } = result;
  const last = hasValue && value ? `${String(decode(value))}\n` : "";
  const printed = result.stdout + last;
  if (result.outcome === "value" || result.outcome === "none") {
    return { printed, error: "", message: "", repaired };
  }
  // A report appends the causes of an error to its message.
  const message = (error?.message ?? "").replace(/ \[(?:cause|errors): [\s\S]*$/, "");
  if (result.outcome === "error" || result.outcome === "refused") {
    const isError = error?.name !== "Error" || !message.startsWith("thrown: ");
    return { printed, error: isError ? error?.name ?? "" : "thrown", message: isError ? message : "", repaired };
  }
  return { printed, error: result.outcome, message, repaired };
}
