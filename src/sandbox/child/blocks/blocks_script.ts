import { decode, encode } from "../../codec/codec.ts";
import type { ConfinedWalls } from "../../confine/confinement.ts";
import { type Bytes, type Frame, FrameFields, PROTOCOL_VERSION, ProtocolError } from "../../protocol.ts";
import { Compiler } from "../compiler/compiler.ts";
import { realmFetch } from "../platform/fetch.ts";
import { realmFiles } from "../platform/files.ts";
import { OutsideWork } from "../platform/outside_work.ts";
import { captured } from "../realm/captured.ts";
import { abortClasses, realmFunctions, realmGlobals } from "../realm/globals.ts";
import { Results } from "../run/results.ts";
import { InjectedNames, ShownResults } from "../realm/names.ts";
import { emptyRealm, replaceFunctionText } from "../realm/realm.ts";
import { HostCalls } from "../run/host_calls.ts";
import { makeConsole, Notes, Output } from "../run/output.ts";
import { Pipe } from "../run/pipe.ts";
import { Timers } from "../run/timers.ts";
import { type RunContext, TimedTasks } from "../run/timed_tasks.ts";
import type { ChildStart } from "../scripts.ts";
import type { ChildAccess } from "../setup.ts";
import { RealmVariables } from "../variables/variables.ts";
import { preview } from "../view/preview.ts";
import { realmValues } from "../view/template_values.ts";
import { type BlockParts, Blocks } from "./blocks.ts";
import { VariableRequests } from "./requests.ts";

const MAX_NAME = 1000;
const NAMES = { items: 100_000, length: MAX_NAME } as const;

function grantedGlobals(work: OutsideWork, access: ChildAccess): Record<string, unknown> {
  return {
    ...(access.globals.includes("fetch") ? realmFetch(work) : {}),
    ...(access.globals.some((name) => name.startsWith("Deno.")) ? { Deno: realmFiles(work, access) } : {}),
  };
}

const NOTE_CHARS = 500;

function currentRun(): RunContext | null {
  const run = captured.context.get();
  return isRun(run) ? run : null;
}

function isRun(value: unknown): value is RunContext {
  return typeof value === "object" && value !== null && "id" in value && "ended" in value;
}

function strayText(error: unknown): string {
  return `Nothing caught this in background work: ${preview(error, { chars: NOTE_CHARS })}`;
}

class Child {
  readonly #start: ChildStart;
  readonly #pipe: Pipe;
  readonly #blocks: Blocks;
  readonly #requests: VariableRequests;
  readonly #parts: BlockParts;
  readonly #own: Readonly<Record<string, unknown>>;
  readonly #functions: Readonly<Record<string, unknown>>;

  constructor(start: ChildStart) {
    this.#start = start;
    this.#pipe = new Pipe(start.end);
    this.#parts = this.#makeParts();
    this.#blocks = new Blocks(this.#parts);
    this.#requests = new VariableRequests(this.#parts);
    const { setup: { functions }, constants } = start;
    const { calls, names } = this.#parts;
    const moduleOf = (value: unknown): string | null => names.extensionOf(value);
    this.#functions = realmFunctions({ functions, constants, calls, moduleOf });
    this.#own = this.#makeOwn();
  }

  begin(held: ConfinedWalls): void {
    const { walls } = this.#start.setup;
    const left = walls.realm ? this.#emptyRealm() : this.#keepRealm();
    this.#pipe.send({
      t: "ready",
      version: PROTOCOL_VERSION,
      walls: {
        realm: walls.realm && left.length === 0,
        permissions: walls.permissions,
        process: held.process,
        kernel: { landlock: held.landlock, seccomp: held.seccomp },
        failed: [...held.failed, ...left.map((name) => `realm: ${name} is left`)],
      },
    });
    const { calls, turns } = this.#parts;
    void this.#pipe.serve({
      onFrame: (frame) => this.#receive(frame),
      onRead: () => {
        if (!turns.inside) calls.turnEnded();
      },
      isTurnDue: () => turns.isDue,
      onlyWaits: () => this.#blocks.onlyWaits,
    });
  }

  #makeParts(): BlockParts {
    const { setup: { functions, outputBytes, previewChars, untimed, misnamed }, scripts, end } = this.#start;
    const pipe = this.#pipe;
    const notes = new Notes();
    const turns = new TimedTasks({
      limitMs: (owner) => this.#blocks.limitMs(owner),
      onStopped: (owner) => this.#blocks.onStopped(owner),
      onLeft: () => this.#parts.calls.turnEnded(),
      onIdle: () => {
        this.#blocks.onIdle();
        pipe.readOn();
      },
    });
    const soon = (task: () => void, owner: RunContext | null): void => turns.soon(task, owner);
    const afterwards = (task: () => void): void => turns.afterwards(task);
    const onError = (error: unknown): void => notes.add(strayText(error));
    const output = new Output({
      cap: outputBytes,
      send: ({ stream, payload }) => {
        pipe.send({ t: "output", run: this.#blocks.currentId, stream }, payload);
        pipe.flush();
      },
      afterwards,
    });
    const inTurn = (): boolean => turns.inside;
    const returned = new Results(misnamed);
    const calls = new HostCalls({ pipe, untimed, results: returned, soon, inTurn, current: currentRun });
    const outside = new OutsideWork({ soon, afterwards, current: currentRun });
    const timers = new Timers({ soon, afterwards, current: currentRun, onError });
    const names: InjectedNames = new InjectedNames((name): boolean => variables.has(name));
    const results = new ShownResults(names);
    const variables: RealmVariables = new RealmVariables((name) => names.descriptorOf(name));
    const values = realmValues({ lookup: (name) => variables.lookup(name), names: () => variables.allNames() });
    const compiler = new Compiler({ ...scripts, functions, values });
    const show: BlockParts["preview"] = (value, { chars = previewChars, more = "" } = {}) =>
      preview(value, { chars: chars < previewChars ? chars : previewChars, more });
    return {
      pipe,
      compiler,
      end,
      isQuiet: () => calls.areNone && timers.running + outside.running === 0 && !turns.areWaiting,
      turns,
      output,
      calls,
      outside,
      timers,
      names,
      notes,
      results,
      variables,
      preview: show,
    };
  }

  #makeOwn(): Record<string, unknown> {
    const { turns, timers, output, outside, preview: show } = this.#parts;
    return {
      ...realmGlobals(turns, currentRun),
      ...grantedGlobals(outside, this.#start.setup.access),
      ...timers.functions,
      ...abortClasses((f, ms) => timers.setTimeout(f, ms)),
      ...makeConsole(output, show),
      ...this.#functions,
    };
  }

  #emptyRealm(): string[] {
    // The runtime reports stray errors through this global, and ends the child if the global is missing. The function
    // ignores other events, because a prevented `beforeunload` would keep the child alive.
    const dispatchEvent = captured.freeze((event: ErrorEvent & PromiseRejectionEvent) => {
      if (event.type !== "error" && event.type !== "unhandledrejection") return true;
      event.preventDefault();
      this.#parts.notes.add(strayText(event.error ?? event.reason));
      return false;
    });
    replaceFunctionText((value) => this.#parts.variables.functions.sourceOf(value));
    const own = this.#own;
    const left = emptyRealm({ added: own, fixed: { dispatchEvent } });
    this.#nameOwn();
    return left;
  }

  #nameOwn(): void {
    const own = this.#own, { names } = this.#parts;
    for (const name in own) {
      if (typeof this.#functions[name] === "object") names.setExtension(name, own[name]);
      else names.set(name, own[name]);
    }
    names.begin();
  }

  #keepRealm(): string[] {
    this.#nameOwn();
    this.#parts.names.set("__import", this.#start.import);
    return ["realm kept"];
  }

  #receive({ header, payload }: Frame): void {
    const fields = new FrameFields(header, header.t);
    const { calls, compiler } = this.#parts, requests = this.#requests;
    switch (header.t) {
      case "run":
        return this.#run(fields, payload);
      case "cancel":
        return this.#blocks.cancel(fields.id());
      case "due":
        return this.#blocks.due(fields.id());
      case "answer":
        return calls.answer({ id: fields.id(), ok: fields.flag("ok"), payload });
      case "ping":
        return this.#pipe.send({ t: "pong", id: fields.id() });
      case "restore":
        return requests.receive({
          t: "restore",
          id: fields.id(),
          code: fields.flag("code"),
          more: fields.flag("more"),
          payload,
        });
      case "bind":
        return requests.receive({
          t: "bind",
          id: nullableId(fields),
          name: fields.text("name", MAX_NAME),
          user: fields.flag("user"),
          part: fields.oneOf("part", BIND_PARTS),
          payload,
        });
      case "results":
        return requests.receive({ t: "results", id: fields.id(), payload });
      case "read":
        return requests.receive({
          t: "read",
          id: fields.id(),
          name: fields.text("name", MAX_NAME),
          maxBytes: fields.amount("maxBytes"),
        });
      case "present":
        return requests.receive({ t: "present", id: fields.id(), name: fields.text("name", MAX_NAME) });
      case "forget":
        return requests.receive({ t: "forget", id: fields.id(), names: fields.texts("names", NAMES) });
      case "render":
        return requests.receive({
          t: "render",
          id: fields.id(),
          deadlineMs: fields.amount("deadlineMs"),
          json: fields.flag("json"),
          payload,
        });
      case "module":
        return requests.receive({
          t: "module",
          id: fields.id(),
          name: fields.text("name", MAX_NAME),
          script: textOf(payload),
        });
      case "endQuery":
        compiler.endQuery();
        this.#blocks.endQuery();
        return requests.acknowledge(nullableId(fields));
      default:
        throw new ProtocolError(`Cannot accept a frame: its type "${header.t}" is unknown`);
    }
  }

  #run(fields: FrameFields, payload: Bytes): void {
    const id = fields.id(), iteration = fields.amount("iteration"), index = fields.amount("index");
    const deadlineMs = fields.amount("deadlineMs");
    const block = this.#parts.compiler.prepare({ source: textOf(payload), iteration, index });
    if (block.ok) return this.#blocks.run({ id, iteration, index, deadlineMs, block });
    const { outcome, error, repaired } = block;
    this.#pipe.send({ t: "done", id, more: false, error, rests: false }, encode({ outcome, repaired }));
  }
}

const BIND_PARTS = ["whole", "more", "last"] as const;

function nullableId(fields: FrameFields): string | null {
  return fields.nullable("id", (key) => fields.id(key));
}

function textOf(payload: Bytes): string {
  const text = decode(payload);
  if (typeof text !== "string") throw new ProtocolError("Cannot accept the code: it is not text");
  return text;
}

Reflect.set(globalThis, Symbol.for("sandbox.blocks"), (start: ChildStart) => {
  const child = new Child(start);
  return (held: ConfinedWalls) => child.begin(held);
});
