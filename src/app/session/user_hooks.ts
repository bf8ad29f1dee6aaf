import type { ConversationParts } from "../../conversation/conversation_parts.ts";
import { changedPath } from "../../domain/calls/changed_files.ts";
import { messageOf } from "../../domain/kit/message_of.ts";
import { isChild, type QueryEvent } from "../../domain/query/query_event.ts";
import type { QueryResult } from "../../domain/query/query_result.ts";
import { clip } from "../../domain/text/clip.ts";
import type { Settings } from "../settings/settings.ts";

const TIMEOUT_MS = 60_000;

type Around = NonNullable<ConversationParts["around"]>;
type Spawn = NonNullable<ConversationParts["spawn"]>;

interface HookParts {
  readonly hooks: Settings["config"]["hooks"];
  readonly workspace: string;
  readonly spawn: Spawn;
}

/** Runs the user's own commands when a request begins, after files were changed, and at the end. */
export function userHooks(parts: HookParts): Around {
  return async (emit, run) => {
    const hooks = new QueryHooks(parts);
    const result = await run((event) => {
      emit(event);
      hooks.take(event);
    });
    const notes = await hooks.end(result);
    return notes.length === 0 ? result : { ...result, notes: [...result.notes, ...notes] };
  };
}

/** Those of one query: one command at a time, in the order of what happened. */
class QueryHooks {
  readonly #parts: HookParts;
  readonly #notes: string[] = [];
  readonly #changed = new Set<string>();
  #running: Promise<void> = Promise.resolve();
  #facts: Readonly<Record<string, unknown>> = {};

  constructor(parts: HookParts) {
    this.#parts = parts;
  }

  take(event: QueryEvent): void {
    if (event.type === "started" && !isChild(event)) {
      const { conversationId: conversation, queryId: query, request } = event;
      this.#facts = { conversation, query, request };
      this.#queue("request");
    }
    if (event.type !== "host_call" || event.phase !== "end") return;
    const paths = (event.diffs ?? []).flatMap((diff) => changedPath(diff) ?? []);
    if (paths.length === 0) return;
    for (const path of paths) this.#changed.add(path);
    this.#queue("edit");
  }

  /** Resolves with what failed, when all have ended. */
  async end({ status, reason, answer }: QueryResult): Promise<readonly string[]> {
    this.#facts = { ...this.#facts, status, reason, answer };
    this.#queue("end");
    await this.#running;
    return this.#notes;
  }

  #queue(event: "request" | "edit" | "end"): void {
    this.#running = this.#running.then(async () => {
      const files = event === "edit" ? [...this.#changed] : [];
      if (event === "edit" && files.length === 0) return; // an earlier run had them
      if (event === "edit") this.#changed.clear();
      for (const command of this.#parts.hooks[event]) await this.#run(command, { event, files });
    });
  }

  async #run(
    command: string,
    { event, files }: { readonly event: string; readonly files: readonly string[] },
  ): Promise<void> {
    const { hooks: { network }, workspace, spawn } = this.#parts;
    const input = `${JSON.stringify({ event, ...this.#facts, workspace, files })}\n`;
    try {
      const { code, stderr, stdout } = await spawn(workspace, ["sh", "-c", command], {
        ...{ env: { VIS_EVENT: event, VIS_FILES: files.join("\n") }, input, network, timeoutMs: TIMEOUT_MS },
      });
      if (code !== 0) this.#failed(command, `exit code ${code}: ${stderr.trim() || stdout.trim()}`);
    } catch (error) {
      this.#failed(command, messageOf(error));
    }
  }

  #failed(command: string, why: string): void {
    this.#notes.push(`Hook ${clip(command, 100)} failed: ${clip(why, 500)}`);
  }
}
