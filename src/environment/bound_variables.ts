import { SYSTEM_VARIABLES, type VariableImage } from "../domain/query/variable.ts";
import { type CustomBinding, TAKEN_NAMES } from "../extension/spec.ts";
import { LANGUAGE_NAMES } from "../sandbox/child/compiler/analysis.ts";
import { summarize } from "../sandbox/child/view/summary.ts";
import { encode } from "../sandbox/codec/codec.ts";
import { CodecError } from "../sandbox/codec/format.ts";
import { valueOf } from "./history/history.ts";
import type { InputVariables } from "./input_variables.ts";
import type { SandboxSession } from "./sandbox_session.ts";
import type { ScopeChanges } from "./scope_changes.ts";
import type { VariableIndex } from "./variable_index.ts";

const NAME = /^[$_\p{ID_Start}][$\u200c\u200d\p{ID_Continue}]*$/u;
const MAX_NAME = 200;
const READ_BYTES = 1 << 20, MAX_BYTES = 32 << 20;
const SYSTEM: readonly string[] = SYSTEM_VARIABLES;
/** Start of the doc of a variable that an extension has bound. It is stored with the variable, so a new process sees it
 * too. */
const MARK = "bound by ";

export interface BoundVariablesSource {
  readonly index: VariableIndex;
  readonly session: SandboxSession;
  readonly scopes: ScopeChanges;
  readonly given: InputVariables;
  /** The newest stored version. */
  readonly stored: (name: string) => Promise<VariableImage | null>;
  /** Whether a block is running; when it ends, variables bound in the meantime are stored. */
  readonly running: () => boolean;
  readonly initialNames: () => ReadonlySet<string>;
}

/** Lets extensions read and bind variables. */
export class BoundVariables {
  readonly #source: BoundVariablesSource;

  constructor(source: BoundVariablesSource) {
    this.#source = source;
  }

  /** Does not start a child: if there is none, it reads the stored version. */
  async read(name: string, { maxBytes = READ_BYTES }: { readonly maxBytes?: number } = {}): Promise<unknown> {
    const { index, session } = this.#source;
    checkName(name, "read");
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
      throw new TypeError(`Cannot read ${name}: maxBytes is ${maxBytes}, it must be a whole number from 1 on`);
    }
    if (this.#isTaken(name) && !SYSTEM.includes(name)) throw absent(name);
    const most = Math.min(maxBytes, MAX_BYTES);
    const { size, type } = index.get(name)?.summary ?? {};
    // The size of a large text is known without loading it into the child.
    if (type === "string" && (size ?? 0) > most) throw tooLarge(name, most);
    if (session.living === null) return await this.#readStored(name, most);
    try {
      return await session.use(name, (sandbox) => sandbox.read(name, { maxBytes: most }));
    } catch (error) {
      throw error instanceof RangeError ? tooLarge(name, most) : error;
    }
  }

  async bind(name: string, value: unknown, { by }: { readonly by: string }): Promise<void> {
    checkName(name, "bind");
    if (this.#isTaken(name)) throw new TypeError(`Cannot bind ${name}: the sandbox uses that name`);
    const image = imageOf(name, { value, doc: `${MARK}${by}` });
    const { index, session, scopes, given, running } = this.#source;
    if (!running()) {
      await session.give([image]);
      given.add({ image, text: "" });
      return index.saved(image, "");
    }
    const [report] = await session.restore(image);
    if (report?.how === "lost") throw new Error(`Cannot bind ${name}: ${report.reason}`);
    scopes.restore(name, { image, older: true });
    index.bump();
  }

  /** Live ones, newest first. */
  list(): readonly CustomBinding[] {
    return this.#source.index.all().flatMap(({ name, scope, summary: { doc, inline, shape } }) =>
      scope === "live" && doc.startsWith(MARK)
        ? [Object.freeze({ name, by: doc.slice(MARK.length), preview: inline ?? shape })]
        : []
    );
  }

  async #readStored(name: string, most: number): Promise<unknown> {
    const { index, session, stored } = this.#source;
    const head = index.get(name);
    const image = head && head.scope !== "forgotten" ? session.unsaved(name) ?? await stored(name) : null;
    if (!image) throw absent(name);
    if (image.large !== undefined || image.bytes.length > most) throw tooLarge(name, most);
    if (SYSTEM.includes(name) || image.kind === "data") return valueOf(image);
    if (image.kind === "lost" || image.kind === "pending") throw new Error(`Cannot read ${name}: ${image.reason}`);
    throw new TypeError(`Cannot read ${name}: it is a ${image.kind}, which is not data`);
  }

  #isTaken(name: string): boolean {
    return SYSTEM.includes(name) || TAKEN_NAMES.has(name) || LANGUAGE_NAMES.has(name) ||
      this.#source.initialNames().has(name);
  }
}

function checkName(name: unknown, action: "read" | "bind"): void {
  if (typeof name === "string" && name.length <= MAX_NAME && NAME.test(name)) return;
  const shown = typeof name === "string" ? JSON.stringify(name.slice(0, 50)) : String(name);
  throw new TypeError(`Cannot ${action} ${shown}: it is not the name of a variable`);
}

function absent(name: string): ReferenceError {
  return new ReferenceError(`Cannot read ${name}: no such variable`);
}

function tooLarge(name: string, bytes: number): RangeError {
  return new RangeError(`Cannot read ${name}: it has more than ${bytes} bytes`);
}

function imageOf(name: string, { value, doc }: { readonly value: unknown; readonly doc: string }): VariableImage {
  if (value === undefined) throw new TypeError(`Cannot bind ${name}: undefined is not a value`);
  let bytes: VariableImage["bytes"];
  try {
    bytes = encode(value, { maxBytes: MAX_BYTES });
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    if (error.tooLarge) throw new RangeError(`Cannot bind ${name}: it has more than ${MAX_BYTES} bytes`);
    throw new TypeError(`Cannot bind ${name}: ${error.message}`, { cause: error });
  }
  const summary = summarize(value, { declaration: "let", doc });
  return { name, kind: "data", bytes, root: null, source: "", requires: [], reason: "", summary };
}
