import { inApi, json, request } from "./api.js";
import { ask } from "./ask.js";
import { byId, element } from "./dom.js";

/** Actions on the open conversation: the page's menu and its branches. */
export class Actions {
  #thread;
  #given;

  /** `renamed` receives the title; `deleted` is called after a deletion. */
  constructor(thread, { renamed, deleted, guarded }) {
    this.#thread = thread;
    this.#given = { renamed, deleted };
    const does = { rename: this.#rename, fork: this.#fork, delete: this.#delete };
    for (const [id, run] of Object.entries(does)) {
      byId(id).addEventListener("click", () => {
        this.#close();
        void guarded(() => run.call(this));
      });
    }
    for (const format of ["md", "html", "json"]) {
      byId(`export-${format}`).addEventListener("click", () => {
        this.#close();
        void guarded(() => this.#export(format));
      });
    }
    byId("branch").addEventListener("change", ({ target }) => location.hash = `c=${target.value}`);
    document.addEventListener("click", ({ target }) => byId("actions").contains(target) || this.#close());
    byId("actions").addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !byId("actions").open) return;
      event.stopPropagation();
      this.#close();
      byId("actions").querySelector("summary").focus();
    });
  }

  /** Shows the actions for a conversation; `facts` without branches belong to a new one. */
  show({ branchId = null, branches = [] }) {
    for (const id of ["variables", "graph", "actions"]) byId(id).hidden = branchId === null;
    byId("branch").hidden = branches.length < 2;
    byId("branch").replaceChildren(...branches.map((branch, at) =>
      element("option", {
        value: branch.branchId,
        selected: branch.branchId === branchId,
        text: `${at + 1}: ${branch.title}`,
      })
    ));
  }

  #close() {
    byId("actions").open = false;
  }

  async #rename() {
    const title = (await ask("Title of the conversation", { value: byId("title").textContent, verb: "Rename" }))
      ?.trim();
    if (!title) return;
    const kept = await json(inApi("conversations", this.#thread.id), { method: "PATCH", body: { title } });
    this.#given.renamed(kept.title);
  }

  async #fork() {
    const queryId = this.#thread.last?.queryId;
    if (queryId) await this.#thread.fork(queryId);
  }

  async #delete() {
    const answer = await ask(`Delete “${byId("title").textContent}” with all its branches?`, { verb: "Delete" });
    if (answer === null) return;
    await request(inApi("conversations", this.#thread.id), { method: "DELETE" });
    this.#given.deleted();
  }

  async #export(format) {
    const response = await request(`${inApi("conversations", this.#thread.id, "export")}?format=${format}`);
    const href = URL.createObjectURL(await response.blob());
    const link = element("a", { href, download: `${byId("title").textContent.slice(0, 60)}.${format}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  }
}
