/** The messages between the child's main thread and its worker, sent over a MessagePort. */
import type { Bytes } from "../../protocol.ts";
import type { RunnableBlock } from "../prepare/prepare_block.ts";
import type { ScriptSource } from "../setup/script_value.ts";
import type { Setup } from "../setup/setup.ts";
import type { ThrownError } from "../errors/thrown_error.ts";

export interface WorkerSetup extends Pick<Setup, "functions" | "untimed" | "outputBytes" | "previewChars" | "access"> {
  /** Codec bytes of "alias.name" to constant. */
  readonly constants: Bytes;
  /** False only in tests of the other walls. */
  readonly emptyRealm: boolean;
  readonly port: MessagePort;
}

/** The only message sent over the worker's own channel. */
export interface WorkerStart {
  readonly script: ScriptSource;
  readonly setup: WorkerSetup;
}

/** What a script cannot provide itself. */
export interface WorkerTools {
  readonly import: (specifier: string, options?: ImportCallOptions) => Promise<unknown>;
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
  /** The main thread keeps the position map. */
  readonly block: Omit<RunnableBlock, "map">;
  /** Names that the block declares. */
  readonly defined: readonly string[];
  /** File name under which the code is compiled. */
  readonly file: string;
}

/** `id` is the one from the wire, except in answers, where it is the worker's own; null if no answer is expected. */
export type ToWorker =
  | RunMessage
  | { readonly t: "cancel"; readonly id: string }
  | ({ readonly t: "answer" } & CallAnswer)
  /** Several at once: the worker settles them in one turn. */
  | { readonly t: "answers"; readonly answers: readonly CallAnswer[] }
  /** `more`: another part of the variables follows. */
  | { readonly t: "restore"; readonly id: string; readonly more: boolean; readonly payload: Bytes }
  | {
    readonly t: "bind";
    readonly id: string | null;
    readonly name: string;
    readonly user: boolean;
    /** For a text that arrives in parts. */
    readonly part: "whole" | "more" | "last";
    readonly payload: Bytes;
  }
  | { readonly t: "results"; readonly id: string; readonly payload: Bytes }
  | { readonly t: "read"; readonly id: string; readonly name: string; readonly maxBytes: number }
  | { readonly t: "forget"; readonly id: string; readonly names: readonly string[] }
  | { readonly t: "render"; readonly id: string; readonly deadlineMs: number; readonly payload: Bytes }
  | { readonly t: "module"; readonly id: string; readonly name: string; readonly script: string }
  | { readonly t: "endQuery"; readonly id: string | null }
  | { readonly t: "ping"; readonly id: string };

export type FromWorker =
  /** `left`: what could not be removed from the realm. */
  | { readonly t: "up"; readonly left: readonly string[] }
  /** For how long so far the run has waited only for calls with their own deadlines, and whether it still does. Sent only
   * when the deadline that the main process knows has come, and at the end of the wait in which it came. */
  | { readonly t: "waited"; readonly id: string; readonly ms: number; readonly goesOn: boolean }
  /** Foreign code of the run has ended: only internal work is left, which has no deadline. */
  | { readonly t: "settled"; readonly id: string }
  | ({ readonly t: "call" } & CallMessage)
  | { readonly t: "calls"; readonly calls: readonly CallMessage[] }
  | { readonly t: "cancel"; readonly id: number }
  | { readonly t: "output"; readonly run: string; readonly stream: 1 | 2; readonly payload: Bytes }
  | {
    readonly t: "done";
    readonly id: string;
    readonly more: boolean;
    /** What the block threw, or why it was stopped. */
    readonly error?: ThrownError | null;
    /** For a block: nothing continues, so nothing has to be ended with the query. */
    readonly rests?: boolean;
    readonly payload: Bytes;
  }
  | { readonly t: "pong"; readonly id: string }
  /** The worker cannot report, because a block damaged the realm too much. */
  | { readonly t: "broken"; readonly why: string };

export type Post = (message: FromWorker) => void;
