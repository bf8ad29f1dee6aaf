import { moreRequest } from "../../domain/query/outcomes.ts";
import { batch, computed, effect, signal } from "@preact/signals";
import type { ApprovalAnswer, ApprovalQuestion } from "../../domain/query/approval.ts";
import type { PlanItem } from "../../domain/query/query_schemas.ts";
import {
  type ApiConversation,
  type ApiQuery,
  type ConversationDetail,
  inApi,
  isMissing,
  json,
  queryEvents,
  type QueryPage,
  request,
  type UndoPreview,
} from "./api.ts";
import { runningCommands } from "./commands.ts";
import {
  choices,
  chosen,
  chosenWorkspace,
  conversationList,
  drawn,
  entry,
  guarded,
  onTabs,
  say,
  serverFacts,
  tellTabs,
} from "./state.ts";
import { type OnlyReads, type RequestKind, Turn } from "./turn.ts";

const SSE = { accept: "text/event-stream" };
const LOOK_MS = 1500, UNDO_LOOKS = 3;

interface Facts extends ApiConversation, Partial<Pick<ConversationDetail, "branches" | "runningElsewhere">> {}

class Thread {
  readonly id = signal<string | null>(null);
  /** The facts are null for a new conversation, and if the page could not fetch them. */
  readonly facts = signal<Facts | null>(null);
  readonly title = signal("New conversation");
  readonly shows = signal<"nothing" | "loading" | "fault" | "turns">("nothing");
  readonly turns = signal<readonly Turn[]>([]);
  readonly earlier = signal(0);
  readonly running = signal(false);
  scroller: { readonly node: HTMLElement; toEnd(): void; keepEnd(): void } | null = null;
  turned: (from: string | null, to: string | null) => void = () => {};
  /** Without the folder of the conversation, the server refuses requests and answers. */
  readonly isServed = computed(() => {
    const { workspace } = this.facts.value ?? {};
    return !workspace || serverFacts.about.value?.workspaces.includes(workspace) !== false;
  });
  #shown = new AbortController();
  #newest: string | null = null;
  #branch: string | null = null;
  #listed = "";
  #looks = 0;

  listen(): void {
    const look = () => void guarded(() => this.#changedElsewhere());
    onTabs(look);
    document.addEventListener("visibilitychange", () => {
      if (document.hidden || entry.value.shows !== "page") return;
      look();
      this.scroller?.keepEnd(); // The browser draws no frames of a hidden page, so the end may be out of view.
    });
    const again = (): void => {
      // If this look fails, the next look may reach the server.
      setTimeout(() => void this.#look().catch(() => {}).finally(again), LOOK_MS);
    };
    again();
  }

  async #look(): Promise<void> {
    if (document.hidden || entry.value.shows !== "page") return;
    await Promise.all([conversationList.load(), this.#lookAtCommands()]);
    if (this.running.value) return;
    const { conversationId, branchId } = this.facts.value ?? {};
    if (!branchId || this.shows.value !== "turns") return;
    const listed = JSON.stringify(
      conversationList.items.value.find((one) => one.conversationId === conversationId) ?? branchId,
    );
    if (listed === this.#listed) {
      // The list does not show an undo in another client.
      if (++this.#looks % UNDO_LOOKS === 0) await this.#showChanges(branchId);
      return;
    }
    this.#listed = listed;
    void guarded(() => this.#changedElsewhere());
  }

  /** Only a request starts commands, so the page looks while a request runs, and until its commands have ended. */
  async #lookAtCommands(): Promise<void> {
    if (this.running.value || runningCommands.running.value.length > 0) await this.#showCommands();
  }

  async #showCommands(): Promise<void> {
    const id = this.id.value;
    if (id !== null) await this.#whileShown((signal) => runningCommands.load(id, signal)).catch(() => {});
  }

  blank(): void {
    this.#turnTo(null);
    this.#empty();
  }

  #empty(): void {
    this.#forget("nothing");
    runningCommands.forget();
    this.id.value = null;
    this.#opened("New conversation", null);
  }

  async open(id: string, placed: () => Promise<void> = async () => {}): Promise<void> {
    this.#forget("loading");
    this.#turnTo(id);
    const found = await this.#whileShown((signal) =>
      Promise.all([storedConversation(id, signal), storedQueries(id, { signal })])
    ).catch((error: unknown) => this.#notOpened(error));
    if (found === null) return;
    const [facts, { items, before }] = found;
    const running = items.find(({ queryId }) => queryId === facts.running);
    batch(() => {
      this.#opened(facts.title, facts);
      this.shows.value = "turns";
      this.earlier.value = before;
      this.turns.value = items.filter((query) => query !== running).map((query) =>
        Turn.ended(id, query, planOf(query, found))
      );
    });
    this.#newest = items.at(-1)?.queryId ?? null;
    void this.#showChanges(id);
    void this.#showCommands();
    await drawn();
    this.scroller?.toEnd();
    await placed();
    if (running) await this.#follow(running.text, running, planOf(running, found));
  }

  async more(): Promise<void> {
    const before = this.earlier.value;
    const page = await this.#whileShown((signal) => storedQueries(this.id.value ?? "", { before, signal }));
    if (page === null || before !== this.earlier.value) return;
    const node = this.scroller?.node;
    const height = node?.scrollHeight ?? 0;
    batch(() => {
      this.earlier.value = page.before;
      const found = page.items.map((query) => Turn.ended(this.id.value ?? "", query, []));
      this.turns.value = [...found, ...this.turns.value];
    });
    await drawn();
    if (node) node.scrollTop += node.scrollHeight - height;
  }

  async send(
    text: string,
    { images = [], only, refused = null, taken = () => {} }: {
      readonly images?: readonly string[];
      readonly only?: OnlyReads | undefined;
      readonly refused?: ApprovalQuestion | null;
      readonly taken?: () => void;
    } = {},
  ): Promise<void> {
    const [shown, known] = [this.#shown, this.id.value];
    while (!this.#isSettled()) await becomes(() => this.#isSettled());
    const running = shown === this.#shown && this.running.value;
    const id = known ?? await this.#create(text);
    const path = inApi("conversations", id, "messages");
    const turn = this.turns.value.at(-1);
    if (running && turn) {
      const told = turn.tell(text);
      this.scroller?.toEnd();
      const [isRead] = await Promise.all([told, refused && this.#refuse(refused, { turn, text })]);
      taken();
      return isRead ? undefined : await this.#changedElsewhere();
    }
    const headers = { ...SSE, "idempotency-key": unique() };
    const kind = only ?? (choices.plan.value ? "plan" : undefined);
    await this.#run(text, { only: kind, images: images.length }, shown, async () => {
      const body = {
        ...{ request: text, approvals: "ask", ...chosen() },
        ...(only ? { [only]: true } : {}),
        ...(images.length > 0 ? { images } : {}),
      };
      const response = await request(path, { method: "POST", body, headers });
      if (kind === "plan") choices.plan.value = false;
      taken();
      return response;
    });
  }

  /** The message arrives before the answer, so the next step reads the message. Another client may have answered. */
  async #refuse(
    { id }: ApprovalQuestion,
    { turn, text }: { readonly turn: Turn; readonly text: string },
  ): Promise<void> {
    const { steered } = turn;
    const sent = steered.value.at(-1);
    // An event of the server replaces the sent message, and a failure removes it.
    await becomes(() => !steered.value.some((one) => one === sent));
    if (!steered.value.some((one) => one.text === text)) return;
    await this.answer(turn, id, { decision: "no", reason: "" }).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }

  async cancel(): Promise<void> {
    const id = this.id.value;
    if (id !== null) await request(inApi("conversations", id, "cancel"), { method: "POST" });
  }

  /** A read of a deleted conversation fails, so the reads end first. */
  async delete(): Promise<boolean> {
    const id = this.id.value ?? "";
    const shown = this.#forget("loading");
    try {
      await request(inApi("conversations", id), { method: "DELETE" });
    } catch (error) {
      if (shown === this.#shown) await this.open(id);
      throw error;
    }
    return shown === this.#shown;
  }

  async fork({ queryId }: Turn, iteration?: number): Promise<void> {
    const body = { queryId, ...(iteration === undefined ? {} : { iteration }) };
    const made = await json<ApiConversation>(this.#path("fork"), { method: "POST", body });
    history.pushState(null, "", `#c=${made.branchId}`);
    tellTabs();
    this.#changed();
    await this.open(made.branchId);
    if (this.id.value !== made.branchId) return;
    say("This is a new branch: your next request continues from here. The list at the top has the other branches");
  }

  async again(turn: Turn): Promise<void> {
    while (!this.#isSettled()) await becomes(() => this.#isSettled());
    if (this.running.value) return;
    const { plan: _notAgain, ...given } = chosen();
    const body = { queryId: turn.queryId, approvals: "ask", ...given };
    await this.#run(turn.request, turn, this.#shown, async () => {
      const response = await request(this.#path("retry"), { method: "POST", body, headers: SSE });
      const branch = response.headers.get("x-vis-conversation");
      if (branch !== this.#branch) location.hash = `c=${branch}`;
      this.turns.value = this.turns.value.filter((other) => other !== turn);
      return response;
    });
  }

  async goOn(turn: Turn): Promise<void> {
    while (!this.#isSettled()) await becomes(() => this.#isSettled());
    if (this.running.value) return;
    const { plan: _asBefore, maxIterations: _fixed, ...given } = chosen();
    const body = { queryId: turn.queryId, more: true, approvals: "ask", ...given };
    await this.#run(
      moreRequest(turn.request),
      turn,
      this.#shown,
      () => request(this.#path("retry"), { method: "POST", body, headers: SSE }),
    );
  }

  async answer({ conversation }: Turn, id: string, body: ApprovalAnswer): Promise<void> {
    await request(inApi("conversations", conversation, "approvals", id), { method: "POST", body });
  }

  #turnTo(id: string | null): void {
    const before = this.id.value;
    this.id.value = id;
    if (before === id) return;
    runningCommands.forget();
    this.turned(before, id);
  }

  #isSettled(): boolean {
    return !this.running.value || this.turns.value.at(-1)?.running.value === true;
  }

  #path(part: string): string {
    return inApi("conversations", this.id.value ?? "", part);
  }

  #changed(): void {
    void guarded(() => conversationList.load());
  }

  #forget(shows: "nothing" | "loading"): AbortController {
    batch(() => {
      this.turns.value = [];
      this.earlier.value = 0;
      this.shows.value = shows;
      this.#busy(false);
    });
    this.#newest = null;
    this.#shown.abort();
    return this.#shown = new AbortController();
  }

  #opened(title: string, facts: Facts | null): void {
    this.title.value = title;
    this.facts.value = facts;
    const branch = facts?.branchId ?? null;
    if (branch !== this.#branch) conversationList.show(false);
    this.#branch = branch;
  }

  #notOpened(error: unknown): never {
    if (isMissing(error)) return this.#gone();
    this.#opened("Conversation", null);
    this.shows.value = "fault";
    throw error;
  }

  #gone(): never {
    history.replaceState(null, "", location.pathname);
    this.#empty(); // The unsent text stays in the input, because its conversation is gone.
    throw new Error(
      "Cannot show this conversation: the server does not find it; choose another",
    );
  }

  async #create(text: string): Promise<string> {
    const workspace = chosenWorkspace();
    const body = workspace === null ? {} : { workspace };
    const shown = this.#shown;
    const made = await json<ApiConversation>(inApi("conversations"), { method: "POST", body });
    this.#changed();
    if (shown !== this.#shown) return made.branchId;
    this.id.value = made.branchId;
    this.shows.value = "turns";
    history.pushState(null, "", `#c=${made.branchId}`);
    const title = text.slice(0, 100);
    this.#opened(title, { ...made, title });
    return made.branchId;
  }

  async #run(
    text: string,
    { only, images }: RequestKind,
    shown: AbortController,
    ask: () => Promise<Response>,
  ): Promise<void> {
    if (shown === this.#shown) this.#busy(true);
    const response = await ask().catch((error: unknown) => {
      if (shown === this.#shown) this.#busy(false);
      throw error;
    });
    tellTabs();
    this.#changed();
    if (shown !== this.#shown) return await response.body?.cancel();
    await this.#follow(text, { response, only, images });
    tellTabs();
    // The conversation may have a title now, and a late message may have become a request.
    await this.#changedElsewhere();
  }

  async #changedElsewhere(): Promise<void> {
    this.#changed();
    if (this.id.value === null || this.running.value || this.shows.value === "loading") return;
    const id = this.id.value;
    const found = await this.#whileShown((signal) =>
      Promise.all([storedConversation(id, signal), storedQueries(id, { limit: 1, signal })])
    ).catch((error: unknown) => {
      throw isMissing(error) ? this.#gone() : error;
    });
    if (found === null || this.running.value) return;
    const [facts, { items }] = found;
    const query = items.at(-1);
    const newest = query?.queryId ?? null;
    if (newest === this.#newest) {
      this.#opened(facts.title, facts);
      return await this.#showChanges(id); // The user may have undone changes elsewhere.
    }
    if (query && newest === facts.running) {
      this.#opened(facts.title, facts);
      return await this.#follow(query.text, query, planOf(query, found));
    }
    await this.open(id);
  }

  async #follow(
    text: string,
    from: RequestKind & (Pick<ApiQuery, "queryId" | "createdAt"> | { readonly response: Response }),
    plan: readonly PlanItem[] = [],
  ): Promise<void> {
    const shown = this.#shown;
    const conversation = this.id.value ?? "";
    const isElsewhere = !("response" in from) && this.facts.value?.runningElsewhere === true;
    const turn = new Turn(conversation, text, from, isElsewhere);
    turn.plan.value = plan;
    turn.begin("createdAt" in from ? from.createdAt : Date.now());
    this.turns.value = [...this.turns.value, turn];
    this.#busy(true);
    await drawn();
    if ("response" in from) this.scroller?.toEnd();
    else this.scroller?.keepEnd();
    try {
      const { signal } = shown;
      const lost = (is: boolean) =>
        !signal.aborted && say(is ? "Connection lost. Reconnecting…" : "Working…", { bad: is });
      for await (const events of queryEvents({ conversation, signal, lost, ...from })) {
        if (signal.aborted) return;
        const asked = turn.question.value;
        batch(() => events.forEach((event) => turn.take(event)));
        if (asked !== turn.question.value) say(turn.question.value ? "Waiting for your answer" : "Working…");
        this.#newest = turn.queryId;
        this.scroller?.keepEnd();
      }
    } finally {
      if (shown === this.#shown) this.#busy(false);
    }
    await this.#drawAnswer(turn);
  }

  async #drawAnswer(turn: Turn): Promise<void> {
    const { conversation } = turn;
    await Promise.all([this.#drawTree(turn), this.#showChanges(conversation), this.#showCommands()]);
  }

  async #drawTree(turn: Turn): Promise<void> {
    let tree: ApiQuery["answerTree"] = null;
    try {
      const page = await this.#whileShown((signal) => storedQueries(turn.conversation, { limit: 2, signal }));
      tree = page?.items.find(({ queryId }) => queryId === turn.queryId)?.answerTree ?? null;
    } finally {
      turn.drawAnswer(tree);
    }
    await drawn();
    this.scroller?.keepEnd();
  }

  async #showChanges(conversation: string): Promise<void> {
    if (await this.#whileShown((signal) => changes.look(conversation, signal)) === null) return;
    const turn = this.turns.value.at(-1);
    if (turn?.end.value?.work?.files && changes.of(turn) === null) await turn.loadDiffs().catch(() => {});
  }

  async #whileShown<T>(read: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    const shown = this.#shown;
    try {
      const found = await read(shown.signal);
      return shown === this.#shown ? found : null;
    } catch (error) {
      if (shown === this.#shown) throw error;
      return null;
    }
  }

  #busy(running: boolean): void {
    this.running.value = running;
    say(running ? "Working…" : "");
  }
}

export const thread = new Thread();

function planOf(
  query: ApiQuery,
  [{ plan }, { items }]: readonly [ConversationDetail, QueryPage],
): readonly PlanItem[] {
  return plan !== null && query === items.findLast(({ createdAt }) => createdAt <= plan.at) ? plan.items : [];
}

const PAGE = 30;

async function storedConversation(id: string, signal: AbortSignal): Promise<ConversationDetail> {
  return await json(inApi("conversations", id), { signal });
}

async function storedQueries(
  id: string,
  { limit = PAGE, before = null, signal }: {
    readonly limit?: number;
    readonly before?: number | null;
    readonly signal: AbortSignal;
  },
): Promise<QueryPage> {
  const from = before === null ? "" : `&before=${before}`;
  return await json(`${inApi("conversations", id, "queries")}?answers=tree&limit=${limit}${from}`, { signal });
}

const latest = signal<UndoPreview | null>(null);

async function load(conversation: string, options: { readonly signal?: AbortSignal } = {}): Promise<UndoPreview> {
  return latest.value = await json<UndoPreview>(inApi("conversations", conversation, "undo"), options);
}

async function look(conversation: string, signal: AbortSignal): Promise<UndoPreview | null> {
  return await load(conversation, { signal }).catch(() => latest.value = null);
}

function of({ queryId }: Turn): UndoPreview | null {
  const { value } = latest;
  if (value === null || value.fault !== null || value.files.length + value.folders.length === 0) return null;
  return value.changes[0]?.queryId === queryId ? value : null;
}

type Undone = Pick<UndoPreview, "files" | "folders" | "kept">;

async function undo(conversation: string, { changes, kept }: UndoPreview): Promise<Undone> {
  return await change(conversation, { changes: changes.map(({ id }) => id), rest: kept.length > 0 });
}

async function redo(conversation: string): Promise<Undone> {
  return await change(conversation, { redo: true });
}

async function change(conversation: string, body: unknown): Promise<Undone> {
  try {
    return await json<Undone>(inApi("conversations", conversation, "undo"), { method: "POST", body });
  } finally {
    await load(conversation);
  }
}

export const changes = { latest, load, look, of, undo, redo };

/** The caller checks the condition again, because another signal may have made the condition false. */
async function becomes(holds: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = effect(() => {
    if (holds()) resolve();
  });
  await promise;
  stop();
}

/** Browsers offer `crypto.randomUUID` only to pages from https or loopback. */
function unique(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
