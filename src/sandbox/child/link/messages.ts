/** What the child's main thread and its worker say to each other over a MessagePort. */
import type { VariableImage } from "../../../domain/query/variable.ts";
import type { Bytes } from "../../protocol.ts";
import type { ChildAccess } from "../setup/child_access.ts";
import type { RunnableBlock } from "../prepare/prepare_block.ts";
import type { ScriptSource } from "../setup/script_value.ts";
import type { ThrownError } from "../errors/thrown_error.ts";

export interface WorkerSetup {
  readonly functions: readonly string[];
  readonly untimed: readonly string[];
  /** Codec bytes of "alias.name" to constant. */
  readonly constants: Bytes;
  readonly outputBytes: number;
  readonly previewChars: number;
  readonly access: ChildAccess;
  /** False in tests of the other walls alone. */
  readonly emptyRealm: boolean;
  readonly port: MessagePort;
}

/** The only message that comes by the worker's own channel. */
export interface WorkerStart {
  readonly script: ScriptSource;
  readonly setup: WorkerSetup;
}

export interface CallMessage {
  readonly id: number;
  readonly run: string;
  readonly name: string;
  readonly payload: Bytes;
}

export interface CallAnswer {
  readonly id: number;
  readonly ok: boolean;
  readonly payload: Bytes;
}

export interface RunMessage {
  readonly t: "run";
  readonly id: string;
  readonly iteration: number;
  readonly index: number;
  readonly deadlineMs: number;
  /** Where its code comes from is kept here. */
  readonly block: Omit<RunnableBlock, "map">;
  /** Names that the block declares and that are not the sandbox's own. */
  readonly defined: readonly string[];
  /** File name to compile the code with. */
  readonly file: string;
}

/** `id` is the wire's, except in answers, where it is the worker's own; null where nobody waits for an answer. */
export type ToWorker =
  | RunMessage
  | { readonly t: "cancel"; readonly id: string }
  | ({ readonly t: "answer" } & CallAnswer)
  /** Several at once: the worker settles them in one turn. */
  | { readonly t: "answers"; readonly answers: readonly CallAnswer[] }
  | { readonly t: "restore"; readonly id: string; readonly images: readonly VariableImage[] }
  /** The same, as codec bytes that came from the main process. */
  | { readonly t: "restoreBytes"; readonly id: string; readonly payload: Bytes }
  | {
    readonly t: "bind";
    readonly id: string | null;
    readonly name: string;
    readonly user: boolean;
    /** Of a text that comes in several. */
    readonly part: "whole" | "more" | "last";
    readonly payload: Bytes;
  }
  | { readonly t: "read"; readonly id: string; readonly name: string; readonly maxBytes: number }
  | { readonly t: "forget"; readonly id: string; readonly names: readonly string[] }
  | { readonly t: "render"; readonly id: string; readonly deadlineMs: number; readonly payload: Bytes }
  | { readonly t: "module"; readonly id: string; readonly name: string; readonly script: string }
  | { readonly t: "endQuery"; readonly id: string | null }
  | { readonly t: "ping"; readonly id: string };

export type FromWorker =
  /** `left`: what could not be taken from the realm; `names`: what it got from us. */
  | { readonly t: "up"; readonly left: readonly string[]; readonly names: readonly string[] }
  /** Names of modules that the realm got. */
  | { readonly t: "named"; readonly names: readonly string[] }
  /** The run waits for nothing but calls with deadlines of their own, or does so no longer. */
  | { readonly t: "paused" | "resumed"; readonly id: string }
  /** Foreign code of the run has ended: only our own work is left, which no deadline ends. */
  | { readonly t: "settled"; readonly id: string }
  | ({ readonly t: "call" } & CallMessage)
  | { readonly t: "calls"; readonly calls: readonly CallMessage[] }
  | { readonly t: "cancel"; readonly id: number }
  | {
    readonly t: "output";
    readonly run: string;
    readonly stream: 1 | 2;
    readonly dropped: number;
    readonly payload: Bytes;
  }
  | {
    readonly t: "done";
    readonly id: string;
    readonly more: boolean;
    /** What the block threw, or why it was stopped. */
    readonly error?: ThrownError | null;
    /** Of a block: nothing continues, so that nothing has to be ended with the query. */
    readonly rests?: boolean;
    readonly payload: Bytes;
  }
  | { readonly t: "pong"; readonly id: string }
  /** The worker cannot report: what a block did to the realm went too deep. */
  | { readonly t: "broken"; readonly why: string };

export type Post = (message: FromWorker) => void;
