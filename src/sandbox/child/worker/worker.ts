/** The worker: empties its global, then runs the blocks that the child's main thread sends. Its bundle is a script that
 * entry.ts evaluates. */
import { abortClasses } from "../realm/abort_signal.ts";
import { Blocks } from "./blocks.ts";
import { captured } from "../intrinsics/captured.ts";
import { makeConsole } from "../realm/console.ts";
import { HostCalls } from "../run/host_calls.ts";
import { InjectedNames } from "../realm/injected_names.ts";
import type { FromWorker, ToWorker, WorkerSetup, WorkerTools } from "../link/messages.ts";
import { Notes } from "../run/notes.ts";
import { Output } from "../run/output.ts";
import { OutsideWork } from "../platform/outside_work.ts";
import { preview } from "../view/preview.ts";
import { emptyRealm } from "../realm/empty_realm.ts";
import { replaceFunctionText } from "../realm/function_text.ts";
import { realmFunctions } from "../realm/functions.ts";
import { realmGlobals } from "../realm/globals.ts";
import type { RunContext } from "../run/context.ts";
import { Timers } from "../run/timers.ts";
import { transferable } from "../link/transferable.ts";
import { ShownResults } from "./shown_results.ts";
import { TimedTasks } from "../run/turns.ts";
import { VariableRequests } from "./variable_requests.ts";
import { RealmVariables } from "../variables/variables.ts";
import type { WorkerParts } from "./parts.ts";
import type { ChildAccess } from "../setup/child_access.ts";
import { realmFetch } from "../platform/fetch.ts";
import { realmFiles } from "../platform/files.ts";

/** The platform globals that active extensions requested; none without a grant. */
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

/** An error that nothing caught. It is attributed to no block, as any block of the query may have caused it. */
function strayText(error: unknown): string {
  return `Nothing caught this in background work: ${preview(error, { chars: NOTE_CHARS })}`;
}

class SandboxWorker {
  readonly #setup: WorkerSetup;
  readonly #tools: WorkerTools;
  readonly #post: (message: FromWorker) => void;
  readonly #blocks: Blocks;
  readonly #requests: VariableRequests;
  readonly #parts: WorkerParts;
  readonly #own: Readonly<Record<string, unknown>>;
  readonly #functions: Readonly<Record<string, unknown>>;

  constructor(setup: WorkerSetup, tools: WorkerTools) {
    this.#setup = setup;
    this.#tools = tools;
    const send = setup.port.postMessage.bind(setup.port);
    this.#post = (message) => send(message, transferable(message));
    this.#parts = this.#makeParts();
    this.#blocks = new Blocks(this.#parts);
    this.#requests = new VariableRequests(this.#parts);
    const { functions, constants } = setup;
    const { calls, names } = this.#parts;
    const moduleOf = (value: unknown): string | null => names.extensionOf(value);
    this.#functions = realmFunctions({ functions, constants, calls, moduleOf });
    this.#own = this.#makeOwn();
  }

  start(): void {
    const { port } = this.#setup;
    const left = this.#setup.emptyRealm ? this.#emptyRealm() : this.#keepRealm();
    const receive = ({ data }: MessageEvent<ToWorker>): void => this.#receive(data);
    port.onmessage = receive; // starts the port
    // The runtime's own dispatch creates a list of targets, including the port, with methods that a block may replace.
    captured.defineProperty(port, "dispatchEvent", { value: receive });
    this.#post({ t: "up", left });
  }

  #makeParts(): WorkerParts {
    const { outputBytes, previewChars, untimed } = this.#setup;
    const post = this.#post;
    const notes = new Notes();
    const turns = new TimedTasks({
      limitMs: () => this.#blocks.limitMs(),
      onStopped: () => this.#blocks.onStopped(),
      onLeft: () => this.#parts.calls.turnEnded(),
      onIdle: () => this.#blocks.onIdle(),
    });
    const soon = (task: () => void): void => turns.soon(task);
    const afterwards = (task: () => void): void => turns.afterwards(task);
    const onError = (error: unknown): void => notes.add(strayText(error));
    const output = new Output({
      cap: outputBytes,
      send: (chunk) => post({ t: "output", run: this.#blocks.currentId, ...chunk }),
      afterwards,
    });
    const calls = new HostCalls({ post, untimed, soon, inTurn: () => turns.inside, current: currentRun });
    const outside = new OutsideWork({ soon, afterwards, current: currentRun });
    const timers = new Timers({ soon, afterwards, current: currentRun, onError });
    const names: InjectedNames = new InjectedNames((name): boolean => variables.has(name));
    const results = new ShownResults(names);
    const variables: RealmVariables = new RealmVariables((name) => names.descriptorOf(name));
    const show = (value: unknown, chars = previewChars): string =>
      preview(value, { chars: chars < previewChars ? chars : previewChars });
    return {
      post,
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

  /** What Vis adds to the realm. If the model overwrites something, it is restored after the block. */
  #makeOwn(): Record<string, unknown> {
    const { turns, timers, output, outside, preview: show } = this.#parts;
    return {
      ...realmGlobals(turns),
      ...grantedGlobals(outside, this.#setup.access),
      ...timers.functions,
      ...abortClasses((f, ms) => timers.setTimeout(f, ms)),
      ...makeConsole(output, show),
      ...this.#functions,
    };
  }

  #emptyRealm(): string[] {
    // Deno reports stray exceptions and rejections through this global; without it they end the worker.
    const dispatchEvent = captured.freeze((event: ErrorEvent & PromiseRejectionEvent) => {
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
    this.#parts.names.set("__import", this.#tools.import);
    return ["realm kept"];
  }

  #receive(message: ToWorker): void {
    switch (message.t) {
      case "run":
        return this.#blocks.run(message);
      case "cancel":
        return this.#blocks.cancel(message.id);
      case "answer":
        return this.#parts.calls.answer(message);
      case "answers":
        return this.#parts.calls.answerAll(message.answers);
      case "ping":
        return this.#post({ t: "pong", id: message.id });
      case "endQuery":
        this.#blocks.endQuery();
        return this.#requests.acknowledge(message.id);
      default:
        return this.#requests.receive(message);
    }
  }
}

Reflect.set(globalThis, Symbol.for("sandbox.worker"), (setup: WorkerSetup, tools: WorkerTools) => {
  new SandboxWorker(setup, tools).start();
});
