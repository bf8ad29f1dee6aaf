import type { FormerResults } from "../../../domain/query/host_call.ts";
import type { VariableImage } from "../../../domain/query/variable.ts";
import { CodecError, decode, encode } from "../../codec/codec.ts";
import { bareList } from "../../codec/intrinsics.ts";
import { type Bytes, MAX_PAYLOAD_BYTES } from "../../protocol.ts";
import { captured } from "../realm/captured.ts";
import { ownData } from "../view/kinds.ts";
import type { BlockParts } from "./blocks.ts";
import { thrownError } from "./thrown_error.ts";

type VariableRequest =
  | {
    readonly t: "restore";
    readonly id: string;
    readonly more: boolean;
    readonly code: boolean;
    readonly payload: Bytes;
  }
  | {
    readonly t: "bind";
    readonly id: string | null;
    readonly name: string;
    readonly user: boolean;
    readonly part: "whole" | "more" | "last";
    readonly payload: Bytes;
  }
  | { readonly t: "results"; readonly id: string; readonly payload: Bytes }
  | { readonly t: "read"; readonly id: string; readonly name: string; readonly maxBytes: number }
  | { readonly t: "present"; readonly id: string; readonly name: string }
  | { readonly t: "forget"; readonly id: string; readonly names: readonly string[] }
  | {
    readonly t: "render";
    readonly id: string;
    readonly deadlineMs: number;
    readonly json: boolean;
    readonly payload: Bytes;
  }
  | { readonly t: "module"; readonly id: string; readonly name: string; readonly script: string };
type Render = Extract<VariableRequest, { t: "render" }>;

const RESTORE_MS = 5000;
const NO_FACTS = {};

export class VariableRequests {
  readonly #parts: BlockParts;
  #text = "";
  #images = bareList<VariableImage>();

  constructor(parts: BlockParts) {
    this.#parts = parts;
  }

  acknowledge(id: string | null): void {
    if (id === null) return;
    captured.setImmediate(() => this.#answer(id, null));
  }

  receive(request: VariableRequest): void {
    try {
      this.#handle(request);
    } catch (error) {
      this.#fail(request.id, error);
    }
  }

  #handle(request: VariableRequest): void {
    const { variables } = this.#parts;
    switch (request.t) {
      case "bind":
        return this.#bind(request);
      case "read":
        return this.#read(request);
      case "present":
        return this.#answer(request.id, this.#present(request.name));
      case "forget":
        variables.forget(request.names);
        return this.#answer(request.id, null);
      case "restore":
        return this.#restore(request);
      case "results":
        this.#parts.results.restore(decode(request.payload) as FormerResults);
        return this.#answer(request.id, null);
      case "render":
        return this.#render(request);
      case "module":
        return this.#module(request);
    }
  }

  #read({ id, name, maxBytes }: Extract<VariableRequest, { t: "read" }>): void {
    const value = this.#parts.variables.read(name);
    let bytes: Bytes;
    try {
      bytes = encode(value, { maxBytes });
    } catch (error) {
      if (!(error instanceof CodecError) || error.tooLarge) throw error;
      throw new captured.TypeError(`Cannot read ${name}: its value${error.path ?? ""} ${error.fact}`);
    }
    this.#answer(id, bytes);
  }

  #present(name: string): Bytes | null {
    const { names, variables } = this.#parts;
    const image = names.kindOf(name) !== null && !variables.has(name) ? null : variables.present(name);
    return image && encode(image, { maxBytes: MAX_PAYLOAD_BYTES });
  }

  #module(request: Extract<VariableRequest, { t: "module" }>): void {
    const { id, name, script } = request;
    const done = (failure: Error | null): void => failure ? this.#fail(id, failure) : this.#answer(id, null);
    loadModule(this.#parts, { name, script, done });
  }

  #bind({ id, name, user, part, payload }: Extract<VariableRequest, { t: "bind" }>): void {
    const value = decode(payload);
    if (part !== "whole") return this.#bindPart({ id, name, text: typeof value === "string" ? value : "", part });
    this.#parts.variables.bind(name, value, { user });
    if (!user) this.#parts.names.set(name, value);
    this.#answer(id, null);
  }

  /** The engine joins the parts, because a block may have replaced the methods of strings. */
  #bindPart(
    { id, name, text, part }: {
      readonly id: string | null;
      readonly name: string;
      readonly text: string;
      readonly part: string;
    },
  ): void {
    this.#text += text;
    if (part === "last") {
      const whole = this.#text;
      this.#text = "";
      this.#parts.variables.bindKept(name, whole);
    }
    this.#answer(id, null);
  }

  #restore({ id, code, more, payload }: Extract<VariableRequest, { t: "restore" }>): void {
    const images = this.#images;
    const given = decode(payload) as readonly VariableImage[]; // The child does not check data of the main process.
    const part = code ? this.#parts.compiler.checked(given) : given;
    for (let i = 0; i < part.length; i++) images[images.length] = part[i]!;
    if (more) return;
    this.#images = bareList();
    let reports: unknown = null;
    let failure: unknown = new captured.Error(
      `Cannot restore the variables: their code ran longer than ${
        RESTORE_MS / 1000
      } s, the limit; fork the conversation ` +
        "from a step before they were made",
    );
    const { calls, turns, variables } = this.#parts;
    calls.enable(false);
    turns.alone({
      limitMs: RESTORE_MS,
      task: () => {
        try {
          reports = variables.restore(images);
        } catch (error) {
          failure = error;
        }
      },
      after: () => {
        calls.enable(true);
        if (reports) this.#answer(id, reports);
        else this.#fail(id, failure);
      },
    });
  }

  #render({ id, payload, deadlineMs, json }: Render): void {
    const template = decode(payload);
    let report: unknown = { ok: false, reason: `Rendering took longer than ${deadlineMs / 1000} s` };
    this.#parts.turns.alone({
      limitMs: deadlineMs,
      task: () => {
        try {
          report = this.#parts.compiler.render({ template: typeof template === "string" ? template : "", json });
        } catch {
          report = { ok: false, reason: "Vis could not render the template" };
        }
      },
      after: () => this.#answer(id, report),
    });
  }

  #answer(id: string | null, value: unknown): void {
    if (id === null) return;
    this.#done(id, { ok: true, value });
  }

  #fail(id: string | null, error: unknown): void {
    if (id === null) return;
    const facts = typeof error === "object" && error !== null ? error : NO_FACTS;
    const message = ownData(facts, "message"), tooLarge = ownData(facts, "tooLarge") === true;
    this.#done(id, {
      ok: false,
      error: { message: typeof message === "string" ? message : "the sandbox failed without a message", tooLarge },
    });
  }

  #done(id: string, body: object): void {
    this.#parts.pipe.send({ t: "done", id, more: false, error: null, rests: false }, encode(body));
  }
}

const MODULE_MS = 2000;

interface RealmModuleRequest {
  readonly name: string;
  readonly script: string;
}

function loadModule(
  { turns, calls, names, preview }: BlockParts,
  { name, script, done }: RealmModuleRequest & { readonly done: (failure: Error | null) => void },
): void {
  let failure: Error | null = new captured.Error(`it took longer than ${MODULE_MS / 1000} s`);
  calls.enable(false);
  turns.alone({
    limitMs: MODULE_MS,
    task: () => {
      try {
        const value: unknown = new captured.Script(script, { filename: `module ${name}` }).runInThisContext();
        if (isBare(value)) captured.freeze(value);
        names.setExtension(name, value);
        failure = null;
      } catch (error) {
        const thrown = thrownError(error, preview);
        failure = new captured.Error(`${thrown.name}: ${thrown.message}`);
      }
    },
    after: () => {
      calls.enable(true);
      done(failure);
    },
  });
}

function isBare(value: unknown): value is object {
  return typeof value === "object" && value !== null && !captured.isProxy(value) &&
    captured.getPrototypeOf(value) === null;
}
