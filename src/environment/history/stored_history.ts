import { UsageError } from "../../domain/errors.ts";
import type { SentMessage } from "../../domain/query/model_call.ts";
import type { Dependency } from "../../domain/query/variable.ts";
import type { LogFilter, LogRow, NewestQueries, SearchFilter, SearchHit } from "../../domain/records/history.ts";
import type { Branch, Store } from "../../persistence/store.ts";
import { valueOf } from "./history.ts";
import type * as history from "../../domain/records/history.ts";

/** Implements the read access of extensions to the store. The conversation that is running is seen as its running
 * branch shows it. */
export class StoredHistory implements history.HistoryReader {
  readonly #store: Store;
  readonly #running: Branch;

  constructor(store: Store, running: Branch) {
    this.#store = store;
    this.#running = running;
  }

  async search(text: string, filter: SearchFilter): Promise<readonly SearchHit[]> {
    const { conversationId: asked } = filter;
    if (asked === undefined) return await this.#store.search(text, filter);
    const { conversationId, branchId } = await this.#branch(asked);
    const running = branchId === this.#running.branchId ? { branchId } : {};
    return await this.#store.search(text, { ...filter, conversationId, ...running });
  }

  async conversations({ limit }: { readonly limit: number }): Promise<readonly history.PastConversation[]> {
    const found = await this.#store.listConversations({ limit });
    return found.map(({ conversationId: id, title, workspace, queries, createdAt }) => (
      { id, title, workspace, queries, createdAt }
    ));
  }

  async queries(conversationId: string, options?: NewestQueries): Promise<readonly history.PastQuery[]> {
    const { branchId } = await this.#branch(conversationId);
    const found = await this.#store.queries(branchId, options);
    return found.map(({ queryId: id, text: request, status, answer, iterations, createdAt }) => (
      { id, request, status, answer, iterations, createdAt }
    ));
  }

  async iterations(queryId: string): Promise<readonly history.PastIteration[]> {
    if (await this.#store.query(queryId) === null) throw new UsageError(`Cannot find query: ${queryId}`);
    const found = await this.#store.iterations(queryId);
    return found.map(({ iterationId: id, position, status, thinking, traces, blocks }) => ({
      id,
      number: position + 1,
      status,
      thinking,
      modelMs: traces.reduce((total, { ms }) => total + ms, 0),
      blocks: blocks.map(({ code, result: { ok, ms, preview: result, stdout, error } }) => (
        { code, ms, ok, result, stdout, error: error === null ? null : `${error.name}: ${error.message}` }
      )),
    }));
  }

  async sent(queryId: string, iteration: number): Promise<readonly SentMessage[] | null> {
    return await this.#store.sentMessages(queryId, iteration - 1);
  }

  async variables(conversationId: string): Promise<readonly history.PastVariable[]> {
    const { branchId } = await this.#branch(conversationId);
    const found = await this.#store.variables(branchId);
    return found.map(({ name, kind, versions, summary, createdAt }) => (
      { name, kind, type: summary.type, versions, summary: summary.shape, createdAt }
    ));
  }

  async versions(conversationId: string, name: string): Promise<readonly history.PastVersion[]> {
    const { branchId } = await this.#branch(conversationId);
    const found = await this.#store.variableVersions(branchId, name);
    return found.map(({ version, image: { summary }, code, createdAt }) => (
      { version, type: summary.type, summary: summary.shape, code, createdAt }
    ));
  }

  async dependencies(conversationId: string): Promise<readonly Dependency[]> {
    return await this.#store.dependencies((await this.#branch(conversationId)).branchId);
  }

  async logs({ conversationId, ...filter }: LogFilter): Promise<readonly LogRow[]> {
    const of = conversationId === undefined
      ? {}
      : { conversationId: (await this.#branch(conversationId)).conversationId };
    return await this.#store.logs({ ...filter, ...of });
  }

  async variable(
    conversationId: string,
    { name, version }: { readonly name: string; readonly version?: number | undefined },
  ): Promise<unknown> {
    const { branchId } = await this.#branch(conversationId);
    const found = await this.#store.variableVersions(branchId, name, version === undefined ? { newest: 1 } : {});
    const one = version === undefined ? found.at(-1) : found.find((each) => each.version === version);
    if (one) return valueOf(one.image);
    const which = version === undefined ? name : `version ${version} of ${name}, which has ${found.length}`;
    throw new UsageError(`Cannot find variable ${which} in conversation ${conversationId}`);
  }

  async #branch(id: string): Promise<Branch> {
    const branch = await this.#store.findConversation(id);
    if (!branch) throw new UsageError(`Cannot find conversation: ${id}`);
    const isRunning = branch.conversationId === this.#running.conversationId && branch.conversationId.startsWith(id);
    return isRunning ? this.#running : branch;
  }
}
