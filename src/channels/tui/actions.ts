import type { Conversation as Branch } from "../../conversation/conversations.ts";
import { fileFault, messageOf, UsageError } from "../../domain/errors.ts";
import type { BranchPoint } from "../../domain/records/conversations.ts";
import { keptText, runUndo, undoCuts } from "../../domain/undo.ts";
import type { Session } from "../channel.ts";
import type { ChatController } from "./chat.ts";
import type { ScreenParts } from "./screen_parts.ts";
import type { Screen } from "./screen.ts";
import type { Panel, PanelActions } from "./widgets/panel.ts";
import { Buffer } from "node:buffer";
import { resolve } from "node:path";

/** Terminals accept no more through their clipboard sequence. */
const COPIED_BYTES = 1_000_000;

interface ActionParts {
  readonly screen: Screen;
  readonly chat: ChatController;
  readonly screenParts: ScreenParts;
  readonly show: (branch: Branch | null) => Promise<void>;
  readonly use: (session: Session) => void;
}

/** Actions of panels and commands on the screen. None of them throws. */
export class Actions implements PanelActions {
  readonly #parts: ActionParts;

  constructor(parts: ActionParts) {
    this.#parts = parts;
  }

  redraw(): void {
    this.#parts.screen.changed();
  }

  close(): void {
    this.#parts.screen.open(null);
  }

  open(panel: Panel): void {
    this.#parts.screen.open(panel);
  }

  tell(text: string): void {
    this.#parts.screen.tell(text);
  }

  quit(): void {
    this.#parts.screen.quit();
  }

  async show(branch: Branch | null): Promise<void> {
    await this.#idle("show another conversation", () => this.#parts.show(branch));
  }

  /** Runs the last request of the conversation again. */
  async retry(): Promise<void> {
    await this.#idle("ask again", () => {
      if (this.#parts.chat.branch === null) this.tell("This conversation has no request yet");
      else this.#parts.chat.retry();
    });
  }

  async fork(at: BranchPoint): Promise<void> {
    await this.#idle("fork", async () => {
      await this.#parts.show(await this.#parts.screen.session.conversations.fork(at));
      this.tell("Now on a new branch; the previous one is unchanged");
    });
  }

  async useModel({ provider, name }: { readonly provider: string; readonly name: string }): Promise<void> {
    await this.#idle("change the model", async () => {
      const { screen, screenParts: { open, request, config }, use } = this.#parts;
      const before = screen.session;
      if (before.database === ":memory:") throw new Error("Cannot change the model: the database is in memory");
      use(await open({ ...request, provider, model: name }));
      await before.close();
      const model = `${provider}/${name}`;
      await (await config()).set("model", { words: [model], project: false });
      this.tell(`${model} from now on`);
    });
  }

  /** Uses the terminal's own clipboard sequence, so that it also works over a remote connection. */
  copy(text: string): void {
    if (text === "") return this.tell("There is nothing to copy");
    const bytes = Buffer.from(text);
    if (bytes.byteLength > COPIED_BYTES) return this.tell("It is too large for the terminal's clipboard");
    this.#parts.screenParts.terminal.write(`\x1b]52;c;${bytes.toString("base64")}\x07`);
    this.tell(`Copied ${text.length} characters`);
  }

  async undo(): Promise<void> {
    await this.#idle("undo", async () => {
      const { chat, screenParts } = this.#parts;
      if (chat.branch === null) return this.tell("Nothing to undo");
      const { conversationId } = chat.branch;
      const cuts = await undoCuts(this.#parts.screen.session.conversations, chat.branch);
      const report = await runUndo(await screenParts.extensions(), { conversation: conversationId, ...cuts });
      if (report === null) return this.tell("Cannot undo: the extension that records file changes is disabled");
      const { error, files = [] } = report;
      const paths = files.map(({ path }) => path).join(", ");
      const kept = keptText(report);
      const more = kept === "" ? "" : `. ${kept}; vis undo --force undoes it there too`;
      this.tell(error ?? `Undid changes in ${paths} (vis undo --redo reapplies them)${more}`);
    });
  }

  async export(name: string): Promise<void> {
    await this.#idle("export", async () => {
      const { chat, screen } = this.#parts;
      if (chat.branch === null) return this.tell("This conversation has no request yet");
      const { conversations, workspace } = screen.session;
      const file = name === "" ? `vis-${chat.branch.branchId.slice(0, 8)}.md` : name;
      const path = resolve(workspace, file);
      const format = path.endsWith(".html") ? "html" : "md";
      await using made = await conversations.exports.make(chat.branch, { conversations, format });
      // Nobody else may read it.
      const stream = ReadableStream.from(made.pieces());
      await Deno.writeFile(path, stream, { createNew: true, mode: 0o600 }).catch((error: unknown) => {
        throw new UsageError(`Cannot write ${file}: ${fileFault(error)}`);
      });
      this.tell(`Wrote ${path}`);
    });
  }

  /** Does the work only while no query runs. */
  async #idle(what: string, work: () => Promise<void> | void): Promise<void> {
    if (this.#parts.chat.running !== null) {
      return this.tell(`Cannot ${what} while a request is running; Esc cancels it`);
    }
    try {
      await work();
    } catch (error) {
      this.tell(messageOf(error));
    }
  }
}
