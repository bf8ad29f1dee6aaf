import { inApi, json, request } from "./api.js";
import { byId, element } from "./dom.js";
import { queryEvents } from "./stream.js";
import { Turn } from "./turn.js";

/** So many turns are shown at first; more when they are asked for. */
const TURNS = 30;

/** The conversation that is open. */
export class Thread {
  #node = byId("thread");
  #shown = 0;
  #running = false;
  id = null;

  /** `opened` is told of the conversation, `changed` when the list may be out of date. */
  constructor({ opened, changed }) {
    this.opened = opened;
    this.changed = changed;
  }

  get running() {
    return this.#running;
  }

  blank() {
    this.#shown++;
    this.id = null;
    this.#busy(false);
    const hello = element("div", {
      class: "hello",
      children: [
        element("h2", { text: "What is to be done?" }),
        element("p", { text: "The model writes code, a sandbox runs it. You see each step, and the variables stay." }),
      ],
    });
    this.#node.replaceChildren(hello);
    this.opened({ title: "New conversation", conversationId: null });
  }

  async open(id) {
    const shown = ++this.#shown;
    this.id = id;
    this.#busy(false);
    this.#node.replaceChildren(element("p", { class: "wait", text: "One moment" }));
    const [facts, { items }] = await Promise.all([
      json(inApi("conversations", id)),
      json(inApi("conversations", id, "queries")),
    ]);
    if (shown !== this.#shown) return;
    this.opened(facts);
    const ended = items.filter(({ queryId }) => queryId !== facts.running);
    this.#node.replaceChildren();
    this.#fill(ended, { before: ended.length });
    if (items.length === 0) this.#node.append(element("p", { class: "wait", text: "Nothing was asked here yet" }));
    this.#end();
    const running = items.find(({ queryId }) => queryId === facts.running);
    if (running) await this.#follow(running.text, { queryId: running.queryId });
  }

  #fill(queries, { before }) {
    const from = Math.max(0, before - TURNS);
    const nodes = queries.slice(from, before).map((query) => Turn.ended(query, this.#options()).node);
    const more = element("button", { type: "button", class: "earlier", text: `${from} earlier` });
    more.addEventListener("click", () => {
      more.remove();
      this.#fill(queries, { before: from });
    });
    this.#node.prepend(...(from > 0 ? [more] : []), ...nodes);
  }

  #options() {
    const id = this.id;
    const fork = async (queryId) => {
      const made = await json(inApi("conversations", id, "fork"), { method: "POST", body: { queryId } });
      location.hash = `c=${made.branchId}`;
    };
    return { conversation: id, actions: { "fork from here": fork } };
  }

  async send(text) {
    if (this.id === null) {
      const made = await json(inApi("conversations"), { method: "POST", body: { title: text.slice(0, 100) } });
      this.id = made.conversationId;
      this.#node.replaceChildren();
      history.pushState(null, "", `#c=${this.id}`);
      this.opened(made);
      this.changed();
    }
    const path = inApi("conversations", this.id, "messages");
    if (this.#running) return await request(path, { method: "POST", body: { request: text, whenBusy: "steer" } });
    const headers = { accept: "text/event-stream", "idempotency-key": crypto.randomUUID() };
    this.#busy(true);
    try {
      await this.#follow(text, { response: await request(path, { method: "POST", body: { request: text }, headers }) });
      this.changed();
    } finally {
      this.#busy(false);
    }
  }

  async cancel() {
    if (this.id !== null) await request(inApi("conversations", this.id, "cancel"), { method: "POST" });
  }

  async #follow(text, from) {
    const shown = this.#shown;
    const turn = new Turn(text, this.#options());
    turn.begin();
    this.#node.querySelector(".wait")?.remove();
    this.#node.append(turn.node);
    this.#end();
    this.#busy(true);
    try {
      for await (const event of queryEvents({ conversation: this.id, ...from })) {
        if (shown !== this.#shown) return; // another conversation is open; this one goes on
        const atEnd = this.#isAtEnd();
        turn.show(event);
        if (atEnd) this.#end();
      }
    } finally {
      if (shown === this.#shown) this.#busy(false);
    }
  }

  #busy(running) {
    this.#running = running;
    byId("cancel").hidden = !running;
    byId("status").textContent = running ? "Working" : "";
    byId("send").textContent = running ? "Tell" : "Send";
  }

  #isAtEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#node;
    return scrollHeight - scrollTop - clientHeight < 80;
  }

  #end() {
    this.#node.scrollTop = this.#node.scrollHeight;
  }
}
