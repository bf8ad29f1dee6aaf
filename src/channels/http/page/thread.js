import { inApi, json, Refused, request } from "./api.js";
import { button, byId, element, say } from "./dom.js";
import { End } from "./end.js";
import { hello } from "./hello.js";
import { inspect } from "./inspector.js";
import { queryEvents } from "./stream.js";
import { Turn } from "./turn.js";

/** Turns shown at first; more on demand. */
const TURNS = 30;
/** Most pages of turns to fetch when looking for one. */
const MAX_PAGES = 20;
const SSE = { accept: "text/event-stream" };
/** Other tabs of this server. */
const tabs = new BroadcastChannel("vis");

/** The open conversation. */
export class Thread {
  #node = byId("thread");
  #shown = 0;
  #running = false;
  #end = new End(this.#node, { runs: () => this.#running });
  #last = null;
  #turns = new Map();
  #earlier = null;
  #newest = null;
  id = null;
  facts = null;

  /** `opened` receives the conversation, `changed` is called when the list may be out of date, `guarded` runs what may
   * fail. */
  constructor({ opened, changed, guarded }) {
    Object.assign(this, { opened, changed, guarded });
    tabs.addEventListener("message", () => void guarded(() => this.#changedElsewhere()));
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.id !== null) void guarded(() => this.#changedElsewhere());
    });
  }

  get running() {
    return this.#running;
  }

  blank() {
    this.#shown++;
    this.id = this.facts = null;
    this.#forget();
    this.#busy(false);
    this.#node.replaceChildren(hello());
    byId("latest").hidden = true;
    this.opened({ title: "New conversation", branchId: null });
  }

  /** `reveal` names a query to scroll into view, `step` one of its steps (0 for none). */
  async open(id, { reveal = null, step = 0 } = {}) {
    const shown = ++this.#shown;
    this.id = id;
    this.#forget();
    this.#busy(false);
    this.#node.replaceChildren(element("p", { class: "wait", text: "Loading…" }));
    const found = await Promise.all([this.#look(), this.#queries()]).catch((error) =>
      this.#notOpened(error, { id, shown })
    );
    if (shown !== this.#shown) return;
    const [facts, { items, before }] = found;
    this.facts = facts;
    this.opened(facts);
    const ended = items.filter(({ queryId }) => queryId !== facts.running);
    this.#node.replaceChildren();
    this.#prepend(ended, before);
    this.#newest = items.at(-1)?.queryId ?? null;
    if (items.length === 0) this.#node.append(nothingYet());
    this.#end.show();
    if (reveal !== null) await this.reveal(reveal, step);
    const running = items.find(({ queryId }) => queryId === facts.running);
    if (running) await this.#follow(running.text, { queryId: running.queryId });
  }

  #notOpened(error, { id, shown }) {
    if (shown !== this.#shown) return;
    if (error instanceof Refused && error.status === 404) {
      history.replaceState(null, "", location.pathname);
      this.blank();
      throw new Error("This conversation does not exist: it was deleted or belongs to another database");
    }
    this.facts = null;
    this.opened({ title: "Conversation", branchId: null });
    const again = button("Try again", { run: () => void this.guarded(() => this.open(id)) });
    this.#node.replaceChildren(element("div", { class: "wait", children: [again] }));
    throw error;
  }

  /** Scrolls a query, or one of its steps, into view; fetches older ones until it is found. */
  async reveal(queryId, step = 0) {
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const turn = this.#turns.get(queryId);
      if (turn) {
        turn.node.scrollIntoView({ block: "start" });
        if (step > 0) await turn.reveal(step);
        return;
      }
      if (this.#earlier === null) return;
      await this.#earlier();
    }
    throw new Error("Cannot show this request: it is too far back");
  }

  /** `taken` is called once the server has accepted it. */
  async send(text, taken = () => {}) {
    if (this.id === null) await this.#create(text);
    const path = inApi("conversations", this.id, "messages");
    if (this.#running) {
      await request(path, { method: "POST", body: { request: text, whenBusy: "steer" } });
      return taken();
    }
    const headers = { ...SSE, "idempotency-key": unique() };
    await this.#run(text, async () => {
      const response = await request(path, { method: "POST", body: { request: text, approvals: "ask" }, headers });
      taken();
      return response;
    });
  }

  async cancel() {
    if (this.id !== null) await request(inApi("conversations", this.id, "cancel"), { method: "POST" });
  }

  /** Makes a branch that continues from a query, or from one of its steps. */
  async fork(queryId, iteration) {
    const body = { queryId, ...(iteration === undefined ? {} : { iteration }) };
    const made = await json(inApi("conversations", this.id, "fork"), { method: "POST", body });
    location.hash = `c=${made.branchId}`;
    this.changed();
  }

  get last() {
    return this.#last;
  }

  async #create(text) {
    const made = await json(inApi("conversations"), { method: "POST", body: {} });
    this.id = made.conversationId;
    this.facts = { ...made, title: text.slice(0, 100) }; // until it has a title
    this.#node.replaceChildren();
    history.pushState(null, "", `#c=${this.id}`);
    this.opened(this.facts);
    this.changed();
  }

  async #again(turn) {
    if (this.#running) return;
    const path = inApi("conversations", this.id, "retry");
    const text = turn.node.querySelector(".asked").textContent;
    const body = { queryId: turn.queryId, approvals: "ask" };
    await this.#run(text, async () => {
      const response = await request(path, { method: "POST", body, headers: SSE });
      turn.node.remove(); // the previous run stays in the database
      return response;
    });
  }

  async #run(text, ask) {
    this.#busy(true);
    const shown = this.#shown;
    try {
      const response = await ask();
      tabs.postMessage({ changed: true });
      this.changed();
      await this.#follow(text, { response });
      tabs.postMessage({ changed: true });
      this.changed();
      if (shown === this.#shown) this.opened(this.facts = await this.#look());
    } finally {
      if (shown === this.#shown) this.#busy(false);
      if (!this.#node.hasChildNodes()) this.#node.append(nothingYet());
    }
  }

  /** Another tab or another program may have added a request. */
  async #changedElsewhere() {
    this.changed();
    if (this.id === null || this.#running) return;
    const shown = this.#shown;
    const [{ running }, { items }] = await Promise.all([this.#look(), this.#queries(1)]);
    const newest = items.at(-1)?.queryId ?? null;
    if (shown !== this.#shown || this.#running || newest === this.#newest) return;
    const [query] = items;
    if (newest === running) return await this.#follow(query.text, { queryId: newest });
    await this.open(this.id);
  }

  async #look() {
    return await json(inApi("conversations", this.id));
  }

  async #queries(limit = TURNS, before = null) {
    const path = inApi("conversations", this.id, "queries");
    return await json(`${path}?limit=${limit}${before === null ? "" : `&before=${before}`}`);
  }

  #prepend(queries, before) {
    const turns = queries.map((query) => Turn.ended(query, this.#options()));
    for (const turn of turns) this.#turns.set(turn.queryId, turn);
    const more = button(`Show earlier requests (${before.toLocaleString()})`, {
      class: "earlier",
      run: () => void this.guarded(() => this.#earlier()),
    });
    this.#earlier = before === 0 ? null : async () => {
      const shown = this.#shown;
      const page = await this.#queries(TURNS, before);
      if (shown !== this.#shown || !more.isConnected) return;
      const height = this.#node.scrollHeight;
      more.remove();
      this.#prepend(page.items, page.before);
      this.#node.scrollTop += this.#node.scrollHeight - height;
    };
    this.#node.prepend(...(before > 0 ? [more] : []), ...turns.map(({ node }) => node));
    if (this.#last === null && turns.length > 0) this.#lastIs(turns.at(-1));
  }

  #forget() {
    this.#last = this.#newest = this.#earlier = null;
    this.#turns.clear();
  }

  #options() {
    const conversation = this.id;
    const actions = {
      inspect: (turn, at) => void inspect({ conversation, turn }, at),
      fork: (turn, at) => void this.guarded(() => this.fork(turn.queryId, at)),
      again: (turn) => void this.guarded(() => this.#again(turn)),
      answer: (id, body) =>
        this.guarded(() => request(inApi("conversations", conversation, "approvals", id), { method: "POST", body })),
      resume: () => void this.guarded(() => this.send("Continue where you stopped.")),
    };
    return { conversation, actions, root: this.#node };
  }

  #lastIs(turn) {
    this.#last?.isLast(false);
    this.#last = turn;
    turn.isLast(true);
  }

  async #follow(text, from) {
    const shown = this.#shown;
    const turn = new Turn(text, this.#options());
    turn.begin();
    this.#lastIs(turn);
    this.#node.querySelector(".wait")?.remove();
    this.#node.append(turn.node);
    this.#end.show();
    this.#busy(true);
    try {
      const wants = () => shown === this.#shown;
      const lost = (is) => wants() && say(is ? "Connection lost. Reconnecting…" : "Working…", { bad: is });
      for await (const event of queryEvents({ conversation: this.id, wants, lost, ...from })) {
        if (!wants()) return; // another conversation is open; this one continues
        turn.show(event);
        this.#newest = turn.queryId;
        this.#end.keep();
      }
    } finally {
      if (shown === this.#shown) this.#busy(false);
    }
  }

  #busy(running) {
    this.#running = running;
    byId("cancel").hidden = !running;
    say(running ? "Working…" : "");
    byId("request").placeholder = running ? "Add instructions…" : "What should Vis do?";
  }
}

/** Browsers offer no UUIDs away from loopback without TLS. */
function unique() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function nothingYet() {
  return element("p", { class: "wait", text: "No requests yet" });
}
