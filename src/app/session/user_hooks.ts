import { stripVTControlCharacters } from "node:util";
import type { ConversationParts } from "../../conversation/conversations.ts";
import { messageOf } from "../../domain/errors.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import { clip, visibleText } from "../../domain/kit/text.ts";
import { isChild } from "../../domain/query/query_event.ts";
import type { QueryEvent, QueryResult } from "../../domain/query/query_schemas.ts";
import { changedPath } from "../../domain/query/work_summary.ts";
import type { FileWatcher } from "../../extension/spec.ts";
import type { Settings } from "../settings/settings.ts";

const TIMEOUT_MS = 60_000, USER_CHARS = 500, MODEL_CHARS = 1_000;

type Around = NonNullable<ConversationParts["around"]>;
type Spawn = NonNullable<ConversationParts["spawn"]>;

type Hooks = Settings["config"]["hooks"];

export function userHooks(
  { hooksIn, spawn }: { readonly hooksIn: (workspace: string) => Hooks; readonly spawn: Spawn },
): Around {
  return async ({ workspace }, emit, run, watchHook) => {
    const hooks = new QueryHooks({ hooks: hooksIn(workspace), spawn, workspace, watchHook });
    const listen = (event: QueryEvent): void => {
      emit(event);
      hooks.take(event);
    };
    const result = await run(listen, (signal) => hooks.between(signal));
    const notes = await hooks.end(result);
    return notes.length === 0 ? result : { ...result, notes: [...result.notes, ...notes] };
  };
}

interface QueryHookParts {
  readonly hooks: Hooks;
  readonly spawn: Spawn;
  readonly workspace: string;
  readonly watchHook: Parameters<Around>[3];
}

class QueryHooks {
  readonly #parts: QueryHookParts;
  readonly #notes = new Map<string, Said>();
  readonly #forModel = new Map<string, Said>();
  readonly #changed = new Set<string>();
  readonly #changedByQuery = new Set<string>();
  #queryId = "";
  #watcher: FileWatcher | null = null;
  #running: Promise<void> = Promise.resolve();
  #edits = 0;
  #facts: Readonly<Record<string, unknown>> = {};

  constructor(parts: QueryHookParts) {
    this.#parts = parts;
  }

  take(event: QueryEvent): void {
    if (event.type === "started" && !isChild(event)) {
      const { conversationId: conversation, queryId: query, request } = event;
      this.#facts = { conversation, query, request };
      this.#queryId = query;
      this.#queue("request");
    }
    if (event.type !== "host_call" || event.phase !== "end") return;
    const paths = (event.diffs ?? []).flatMap((diff) => changedPath(diff) ?? []);
    if (paths.length === 0) return;
    for (const path of paths) {
      this.#changed.add(path);
      this.#changedByQuery.add(path);
    }
    this.#watcher = this.#parts.watchHook(this.#queryId);
    this.#queue("edit");
  }

  /** Commands that run after an edit may change the same files, so the query waits for these commands. */
  async between(signal: AbortSignal): Promise<readonly string[]> {
    if (this.#edits > 0) await abortable(this.#running, signal).catch(() => {});
    const notes = [...this.#forModel.values()].map((one) => noteOf(one, MODEL_CHARS));
    this.#forModel.clear();
    return notes;
  }

  async end({ status, reason, answer }: QueryResult): Promise<readonly string[]> {
    this.#facts = { ...this.#facts, status, reason, answer };
    this.#queue("end");
    await this.#running;
    return [...this.#notes.values()].map((one) => noteOf(one, USER_CHARS));
  }

  #queue(event: "request" | "edit" | "end"): void {
    if (event === "edit") this.#edits++;
    this.#running = this.#running.then(async () => {
      const files = event === "edit" ? [...this.#changed] : [];
      if (event === "edit") this.#changed.clear();
      const commands = event === "edit" && files.length === 0 ? [] : this.#parts.hooks[event];
      for (const command of commands) await this.#run(command, { event, files });
      if (event === "edit") this.#edits--;
    });
  }

  async #run(
    command: string,
    { event, files }: { readonly event: string; readonly files: readonly string[] },
  ): Promise<void> {
    const { hooks: { network }, workspace, spawn } = this.#parts;
    const input = `${JSON.stringify({ event, ...this.#facts, workspace, files })}\n`;
    const name = `Hook ${clip(command, 100)}`;
    try {
      const { code, signal, stderr, stdout, timedOut } = await this.#watched(
        event,
        () =>
          spawn(workspace, ["sh", "-c", command], {
            ...{ env: { VIS_EVENT: event, VIS_FILES: files.join("\n") }, input, network, timeoutMs: TIMEOUT_MS },
          }, null),
      );
      const output = [stdout.trim(), stderr.trim()].filter((text) => text !== "").join("\n");
      const how = timedOut
        ? `took longer than ${TIMEOUT_MS / 1000} s, the limit`
        : `ended with ${signal ?? `exit code ${code}`}`;
      if (code !== 0 || timedOut) this.#failed(command, { note: `${name} ${how}`, output });
      else if (output !== "") this.#say(`output ${command}`, { note: `${name} printed`, output });
    } catch (error) {
      this.#failed(command, { note: `${name} failed`, output: messageOf(error) });
    }
  }

  /** A hook of `request` starts before the changes of the request. A hook of `end` may write a log for each request, so
   * undo knows only its changes of files that the request changed. */
  async #watched<Result>(event: string, run: () => Promise<Result>): Promise<Result> {
    const watcher = event === "request" ? null : this.#watcher;
    const ended = await watcher?.begin();
    try {
      return await run();
    } finally {
      ended?.();
      await watcher?.report(event === "end" ? this.#changedByQuery : undefined);
    }
  }

  #failed(command: string, said: { readonly note: string; readonly output: string }): void {
    this.#say(`failure ${command} ${said.output}`, said);
  }

  #say(key: string, { note, output }: Said): void {
    const said = visibleText(stripVTControlCharacters(output));
    for (const notes of [this.#notes, this.#forModel]) {
      const { output: before = "" } = notes.get(key) ?? {};
      const isSame = before === said || before.endsWith(`\n${said}`);
      const all = isSame ? before : before === "" ? said : `${before}\n${said}`;
      notes.set(key, { note, output: all.slice(-MODEL_CHARS - 1) });
    }
  }
}

interface Said {
  readonly note: string;
  readonly output: string;
}

function noteOf({ note, output }: Said, limit: number): string {
  return output === "" ? note : `${note}: ${tail(output, limit)}`;
}

function tail(text: string, limit: number): string {
  return text.length <= limit ? text : `… ${text.slice(-limit).toWellFormed()}`;
}
