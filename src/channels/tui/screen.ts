import { Buffer } from "node:buffer";
import { homedir } from "node:os";
import { resolve } from "node:path";
import {
  isKeyRelease,
  type KeyId,
  matchesKey,
  setKeybindings,
  type Terminal,
  TuiAltScreen,
} from "@earendil-works/pi-tui";
import type { Conversation as Branch } from "../../conversation/conversations.ts";
import { fileFault, messageOf, UsageError } from "../../domain/errors.ts";
import { type Clock, REAL_CLOCK } from "../../domain/kit/concurrency.ts";
import { counted } from "../../domain/kit/text.ts";
import type { BranchPoint } from "../../domain/records/conversations.ts";
import type { BackgroundProgram, ExtensionAdmin, ExtensionCommandFacts } from "../../domain/admin_reports.ts";
import {
  earlierRequest,
  keptText,
  runUndo,
  undoableChanges,
  undoCuts,
  undoFault,
  undoneQueries,
  type UndoReport,
} from "../../domain/undo.ts";
import type { ConfigAdmin, ProviderAdmin, Session } from "../channel.ts";
import { ChatController, openBranch } from "./chat.ts";
import { asksModel, commandsOf, isOfFile, submitted } from "./commands.ts";
import { type DisplayOptions, LineEntry } from "./entries/entry.ts";
import { AnswerEntry, Greeting, RequestEntry } from "./entries/message_entries.ts";
import { Transcript } from "./entries/transcript.ts";
import { type FrameFacts, Painter, type RunningJob, ScreenFrame } from "./frame.ts";
import { completions } from "./input/completions.ts";
import { ImageReader } from "./input/images.ts";
import { InputBox } from "./input/input_box.ts";
import { InputHistory } from "./input/input_history.ts";
import { type Outgoing, typedText } from "./input/outgoing.ts";
import { type PromptFile, promptFiles } from "./prompt_files.ts";
import { freshKeys, Keyboard, readKeys } from "./keyboard.ts";
import { Questions } from "./panels/approval_panel.ts";
import { InputsPanel } from "./panels/inputs_panel.ts";
import { ModelPicker } from "./panels/model_picker.ts";
import type { PaletteCommand } from "./panels/palette.ts";
import type { Panel, PanelActions, PanelParts, Rewinding } from "./panels/panel.ts";
import type { Prefs, PrefsKeeper } from "./prefs.ts";
import { FOCUS, notification, suspend, TERMINAL_CODES } from "./terminal.ts";
import { flat } from "./text/one_line.ts";
import { ScreenTheme, type Theme } from "./text/theme.ts";
import { isCommand, type RunCommand, UserCommands } from "./user_commands.ts";

export interface ScreenParts {
  readonly terminal: Terminal;
  readonly providers: () => Promise<ProviderAdmin>;
  readonly config: () => Promise<ConfigAdmin>;
  readonly extensions: () => Promise<Pick<ExtensionAdmin, "run" | "commands" | "requests">>;
  readonly runCommand: RunCommand;
  readonly clipboardImage?: () => Promise<Uint8Array<ArrayBuffer> | null>;
  readonly edit?: (text: string) => Promise<string | null>;
  readonly gitState?: (workspace: string) => Promise<string>;
  readonly gitChanges?: (workspace: string) => Promise<string | null>;
  readonly prefs: PrefsKeeper;
  readonly home: string | null;
  readonly userHome: string;
  readonly color: boolean;
  readonly clock?: Clock;
}

export interface ScreenStart {
  readonly branch: Branch | null;
  readonly notes: readonly string[];
  readonly request?: string | undefined;
}

function hasModel({ model }: Session): boolean {
  return model !== "";
}

/** The package keeps the focus of the terminal private, so the returned terminal reads the input first. A slow
 * connection can deliver two presses of Esc in one read, which the package takes for one unknown key. */
function watched(terminal: Terminal, onFocus: (isIn: boolean) => void): Terminal {
  const start = terminal.start.bind(terminal);
  terminal.start = (onInput, onResize) =>
    start((data) => {
      if (data === FOCUS.in || data === FOCUS.out) onFocus(data === FOCUS.in);
      for (const key of data === ESC + ESC ? [ESC, ESC] : [data]) onInput(key);
    }, onResize);
  return terminal;
}

const ESC = "\x1b";
const LOOK_MS = 1_000, WATCH_MS = 400, ASKED_MS = 5_000, PAUSE_MS = 5_000;
const UNDO_LOOKS = 5;
/** The demo has scripted replies to this request. */
export const DEMO_REQUEST = "How many files and lines are there?";
const LEAVING: readonly KeyId[] = ["escape", "ctrl+c"];
/** Some terminals refuse longer clipboard sequences, so Vis copies at most this many bytes of text. */
const COPIED_BYTES = 1_000_000;

/** After `ended`, the caller closes `session`. */
export class Screen implements PanelActions {
  readonly #parts: ScreenParts;
  readonly #tui: TuiAltScreen;
  readonly #prefs: PrefsKeeper;
  readonly #painter: Painter;
  readonly #transcript = new Transcript();
  readonly chat: ChatController;
  readonly #input: InputBox;
  readonly #keyboard: Keyboard;
  readonly #questions: Questions;
  readonly #userCommands: UserCommands;
  readonly #frame: ScreenFrame;
  #prompts: readonly PromptFile[] = [];
  #offered: readonly PromptFile[] = [];
  #added: readonly ExtensionCommandFacts[] = [];
  #commands: readonly PaletteCommand[] = [];
  #askedToEnd = { unfinished: "", at: -Infinity, told: "" };
  readonly #done = Promise.withResolvers<void>();
  #session: Session;
  #panel: Panel | null = null;
  readonly #colors: ScreenTheme;
  #whole = false;
  #isPlanOpen = false;
  #told = "";
  #ranElsewhere = false;
  #history: InputHistory | null = null;
  #programs: readonly BackgroundProgram[] = [];
  #programsOf = "";
  #git = "";
  #gitReads = 0;
  #undoneQueries: ReadonlySet<string> = new Set();
  #undoneReads = 0;
  /** The user knows that the changes of these queries are undone. */
  #knownUndone: ReadonlySet<string> = new Set();
  /** The last notice about an undo elsewhere. */
  #noticed = "";
  #keyAt = performance.now();
  #title = "";
  #looked = true;
  #withoutModel: LineEntry | null = null;
  #on = false;
  readonly #left = new AbortController();
  #following: Promise<void> = Promise.resolve();
  /** These keys arrived before the screen was complete. The value is null after the screen has typed them. */
  #early: string[] | null = [];
  #submitting: Promise<void> | null = null;
  /** This text of the input is a request that waits until the user has chosen a model. */
  #unsent: { readonly text: string; readonly isFirst: boolean } | null = null;

  constructor(parts: ScreenParts, session: Session) {
    this.#parts = parts;
    this.#session = session;
    this.#prefs = { get: () => parts.prefs.get(), set: (change) => this.#setPrefs(change) };
    this.#colors = new ScreenTheme({ prefs: parts.prefs, color: parts.color });
    setKeybindings(freshKeys());
    this.#tui = new TuiAltScreen(watched(parts.terminal, (isIn) => this.#look(isIn)));
    this.chat = new ChatController({
      session: () => this.#session,
      transcript: this.#transcript,
      shown: () => this.#shown(),
      changed: () => this.redraw(),
      approve: (question, signal) => this.#questions.approve(question, signal),
      worked: () => {
        void this.#readGit();
        if (this.#undoneQueries.size > 0) void this.#readUndone();
      },
      outputs: () => this.#userCommands.take(),
      ring: (why: string) => this.#ring(why),
      giveBack: (outgoing) => this.#input.giveBack(outgoing),
      undone: () => this.#readUndone(),
      undo: async (options) => await runUndo(await this.#parts.extensions(), options),
    });
    this.#userCommands = new UserCommands({
      ...{ run: parts.runCommand, screen: this, transcript: this.#transcript, shown: () => this.#shown() },
      worked: () => void this.#readGit(),
    });
    const cancel = (): void => void this.chat.cancel();
    this.#questions = new Questions({
      ...{ panels: this.#panelParts(), open: () => this.#panel, cancel, ring: (why: string) => this.#ring(why) },
      ...{ clock: parts.clock ?? REAL_CLOCK, input: () => this.#input },
    });
    this.#input = new InputBox(this.#tui, {
      ...{ theme: this.#theme.editor, submit: (outgoing: Outgoing) => this.#submit(outgoing) },
      takesImages: (text) => asksModel(text, this.#commands),
      images: new ImageReader({ session: () => this.#session, userHome: parts.userHome }),
      vim: () => this.#prefs.get().vim,
      chip: (text) => this.#theme.accent(text),
      placeholder: () => this.#theme.dim(this.#placeholder()),
      tell: (text) => this.tell(text),
    });
    this.#keyboard = this.#makeKeyboard();
    this.#frame = new ScreenFrame({
      transcript: this.#transcript,
      rows: () => parts.terminal.rows,
      facts: () => this.#facts(),
      wheel: (direction) => this.#keyboard.wheel(direction),
    });
    const draw = (): void => {
      this.#lookAtPrograms();
      const { told, unfinished } = this.#askedToEnd;
      if (told !== "" && this.#told === told && this.#unfinished() !== unfinished) this.#told = "";
      this.#frame.fresh = true;
      this.#tui.requestRender();
    };
    this.#painter = new Painter({ draw, cost: () => this.#frame.cost });
  }

  get session(): Session {
    return this.#session;
  }

  get done(): Promise<void> {
    return this.#done.promise;
  }

  async start({ branch, notes, request }: ScreenStart): Promise<void> {
    this.#tui.setLayoutRoot(this.#frame);
    // The terminal package draws input of the focused component at once. Other redraws wait for the next frame.
    const handleInput = (data: string): void => {
      this.#lookAfterPause();
      if (this.#early === null || LEAVING.some((key) => matchesKey(data, key))) this.#keyboard.key(data);
      else if (!isKeyRelease(data)) this.#early.push(data);
    };
    this.#tui.setFocus({ handleInput, render: () => [], invalidate: () => {} });
    this.#input.component.focused = true;
    const [{ home }, { workspace }] = [this.#parts, this.#session];
    const [history, files] = await Promise.all([
      InputHistory.at(home, workspace),
      promptFiles({ workspace, home, userHome: homedir() }),
    ]);
    [this.#history, this.#prompts] = [history, files.prompts];
    this.#command();
    this.#input.remember(await this.#history?.read() ?? []);
    this.#take();
    void this.#colors.ask(this.#tui).then((known) => known && this.#repaint());
    await this.#show(branch);
    this.#following = this.#follow();
    void this.#readGit();
    void this.#addCommands();
    if (!hasModel(this.#session)) this.open(new ModelPicker(this.#panelParts()));
    for (const note of [...notes, ...files.notes, ...readKeys(this.#prefs.get().keys).faults]) this.#note(note);
    const { withoutModel = "" } = this.#session;
    if (withoutModel !== "") this.#withoutModel = this.#note(withoutModel);
    if (request !== undefined) this.#begin({ text: request, variables: {}, images: {} });
    void this.#takeEarly();
    this.redraw();
  }

  #note(text: string): LineEntry {
    const entry = new LineEntry([text, (shown) => this.#theme.dim(shown)]);
    this.#transcript.add(entry);
    return entry;
  }

  #begin(outgoing: Outgoing): void {
    if (hasModel(this.#session)) this.#submitCommand(outgoing, { isFirst: true });
    else this.#waitForModel(outgoing, { isFirst: true });
  }

  #waitForModel(outgoing: Outgoing, { isFirst }: { readonly isFirst: boolean }): void {
    this.#input.giveBack(outgoing);
    this.#unsent = { text: this.#input.text, isFirst };
  }

  #sendUnsent(): void {
    const { text, isFirst } = this.#unsent ?? { text: "", isFirst: false };
    this.#unsent = null;
    if (text === "" || text !== this.#input.text) return;
    if (!isFirst) return this.#input.key("\r");
    this.#input.clear();
    this.#submitCommand({ text, variables: {}, images: {} }, { isFirst });
  }

  /** While a panel or an approval is open, Enter begins a new line, because the user may not have seen the panel. */
  async #takeEarly(): Promise<void> {
    for (let data = this.#early?.shift(); data !== undefined; data = this.#early?.shift()) {
      const isShown = this.#panel !== null || this.#questions.panel !== null;
      this.#input.key(isShown && data === "\r" ? "\n" : data);
      if (this.#userCommands.running === null || this.#early?.length === 0) continue;
      this.tell("The next line waits for the command; Esc ends it");
      await this.#userCommands.ended;
    }
    this.#early = null;
    this.redraw();
  }

  /** The caller may call `stop` at any time, and repeatedly. */
  stop(): void {
    this.#left.abort();
    this.#painter.stop();
    this.close();
    this.#giveUp();
  }

  async ended(): Promise<void> {
    this.chat.leave();
    this.chat.cancel();
    this.#userCommands.cancel();
    await Promise.all([this.chat.ended, this.#following, this.#history?.settled()]);
  }

  /** If Vis would end a request or commands, only a second call within `ASKED_MS` quits. */
  quit(): void {
    const unfinished = this.#unfinished(), at = performance.now(), asked = this.#askedToEnd;
    const isAsked = asked.unfinished === unfinished && at - asked.at < ASKED_MS;
    if (unfinished === "" || isAsked) return this.#done.resolve();
    const later = this.chat.isWorking ? "; vis -c continues the request" : "";
    const told = `Ctrl-D again ends ${unfinished}, and quits${later}`;
    this.#askedToEnd = { unfinished, at, told };
    this.tell(told);
  }

  #unfinished(): string {
    const own = this.#userCommands.running?.ending.signal.aborted === false ? 1 : 0;
    const commands = this.#session.conversations.programs(null).length + own;
    return [
      ...this.chat.isWorking ? ["the running request"] : [],
      ...commands === 0 ? [] : [counted(commands, "running command")],
    ].join(" and ");
  }

  redraw(): void {
    if (!this.#on) return;
    const runsElsewhere = this.chat.status.where !== "";
    if (runsElsewhere && !this.#ranElsewhere) this.#told = "";
    this.#ranElsewhere = runsElsewhere;
    this.#tick();
    this.#entitle();
    this.#painter.soon();
  }

  #tick(): void {
    const runs = this.chat.status.phase !== "" || this.#userCommands.running !== null || this.#programs.length > 0;
    this.#painter.tick(runs);
  }

  #lookAtPrograms(): void {
    const { branch } = this.chat;
    const [before, now] = [this.#programs, branch === null ? [] : this.#session.conversations.programs(branch)];
    if (before.length === 0 && now.length === 0) return;
    this.#programs = now;
    this.#tick();
    const [ended] = before.filter(({ id }) => now.every((one) => one.id !== id));
    const isShown = branch?.branchId === this.#programsOf;
    this.#programsOf = branch?.branchId ?? "";
    if (ended && isShown && this.chat.running === null) this.tell(`${flat(ended.title, 200)} has ended`);
  }

  #jobs(): readonly RunningJob[] {
    const now = Date.now();
    const own = this.#userCommands.running;
    const jobs = this.#programs.map(({ title, startedAt, output }) => ({ title, startedAt, output, how: "/jobs" }));
    if (own !== null) jobs.unshift({ ...own, how: own.ending.signal.aborted ? "ending" : "Esc ends it" });
    return jobs.map(({ title, startedAt, output, how }) => ({ title, ms: now - startedAt, output, how }));
  }

  tell(text: string): void {
    if (this.#told === text) return;
    this.#told = text;
    this.redraw();
  }

  open(panel: Panel): void {
    this.#turnTo(panel);
  }

  close(): void {
    this.#turnTo(null);
  }

  #turnTo(panel: Panel | null): void {
    if (this.#panel !== panel) this.#panel?.left();
    this.#panel = panel;
    this.#input.component.focused = panel === null;
    this.redraw();
  }

  async show(...of: Parameters<PanelActions["show"]>): Promise<void> {
    await this.#idle("show another conversation", () => this.#show(...of));
  }

  keep(request: string): void {
    const { text } = this.#input;
    // A user who types while the screen opens has typed the beginning of the request into the input.
    this.#input.replace(this.#unsent === null ? text + request : `${text}\n${request}`);
    this.#unsent = { text: this.#input.text, isFirst: false };
    this.tell("Choose a model: Vis then sends your request");
  }

  compose(text: string): void {
    this.#input.giveBack({ text, variables: {}, images: {} });
    this.redraw();
  }

  async retry(): Promise<void> {
    await this.#idle("run the last request again", () => {
      if (this.chat.branch === null) this.tell("This conversation has no request yet");
      else this.chat.retry();
    });
  }

  async more(): Promise<void> {
    await this.#idle("continue the last request", () => {
      if (this.chat.branch === null) this.tell("This conversation has no request yet");
      else this.chat.more();
    });
  }

  async fork(at: BranchPoint): Promise<void> {
    await this.#idle("fork the conversation", async () => {
      this.tell(`${await this.#forked(at)}. Files stay as they are`);
    });
  }

  async #forked(at: BranchPoint): Promise<string> {
    const { conversations } = this.#session;
    const branch = await conversations.fork(at);
    await this.#show(branch);
    const request = (await conversations.queries(branch)).length;
    const step = at.position === null || at.position < 0 ? "" : `step ${at.position + 1} of `;
    const place = request === 0 ? "at the beginning" : `after ${step}request ${request}`;
    return `Now on a new branch, ${place}; the previous branch is unchanged (to open it: /conversations, then → and Enter)`;
  }

  async #choose(model: { readonly provider: string; readonly model: string }): Promise<void> {
    this.#session = { ...this.#session, ...await this.#session.useModel?.(model) };
    if (this.#withoutModel) this.#transcript.replace(this.#withoutModel, []);
    this.#withoutModel = null;
  }

  async useModel({ provider, name }: { readonly provider: string; readonly name: string }): Promise<void> {
    try {
      await this.#choose({ provider, model: name });
      const model = `${provider}/${name}`;
      await (await this.#parts.config()).set("model", { words: [model], project: false });
      this.tell(`${model} from ${this.chat.running === null ? "now" : "the next step"} on`);
      this.#sendUnsent();
    } catch (error) {
      this.tell(messageOf(error));
    }
  }

  async useDemo(): Promise<void> {
    try {
      await this.#choose({ provider: "demo", model: "scripted" });
      this.#repaint(); // The introduction to Vis names the demo.
      this.tell("The demo from now on: scripted replies; /model chooses a model");
      this.#sendUnsent();
    } catch (error) {
      this.tell(messageOf(error));
    }
  }

  /** Over a remote connection, this sequence can set the clipboard of the user's machine. */
  copy(text: string): void {
    if (text === "") return this.tell("There is nothing to copy");
    const bytes = Buffer.from(text);
    if (bytes.byteLength > COPIED_BYTES) {
      return this.tell(
        `Cannot copy ${bytes.byteLength} bytes: the limit is ${COPIED_BYTES} bytes; copy a part of the text`,
      );
    }
    this.#parts.terminal.write(`\x1b]52;c;${bytes.toString("base64")}\x07`);
    this.tell(`Copied ${counted(text.length, "character")}`);
  }

  async undo({ redo = false, rest = false, force = false } = {}): Promise<void> {
    const name = redo ? "redo" : "undo";
    await this.#idle(`${name} changes`, async () => {
      const { branch } = this.chat;
      if (branch === null) return this.tell(`Nothing to ${name}`);
      const changed = redo ? "" : await this.#changedElsewhere(branch, { isTold: true });
      if (changed !== "") return this.tell(changed);
      // After a rewind, another branch has the request of the changes that were undone last.
      const cuts = redo ? {} : await undoCuts(this.#session.conversations, branch);
      this.tell(await this.#undone({ conversation: branch.conversationId, redo, rest, force, ...cuts }));
    });
  }

  async rewind({ changes, to }: Rewinding): Promise<void> {
    await this.#idle("rewind the conversation", async () => {
      const { branch } = this.chat;
      if (branch === null) return;
      const conversation = branch.conversationId;
      const told = changes.length === 0
        ? ""
        : await this.#undone({ conversation, changes: changes.join(","), rest: true });
      if (to !== null) {
        const moved = await this.#forked(to.point);
        if (to.text !== "") this.compose(to.text);
        this.tell([told, moved].filter(Boolean).join(". "));
      } else this.tell(told);
    });
  }

  async #undone(options: Parameters<typeof runUndo>[1]): Promise<string> {
    const report = await runUndo(await this.#parts.extensions(), options);
    if (report === null) {
      throw new UsageError(
        `Cannot ${
          options["redo"] === true ? "redo" : "undo"
        } changes: the extension that records file changes is not ` +
          "loaded; vis extensions list shows why",
      );
    }
    void this.#readGit();
    await this.#readUndone({ isTold: true });
    const { files = [], folders = [] } = report;
    const redo = options["redo"] === true, command = redo ? "/redo" : "/undo";
    const fault = undoFault(report, { redo, rest: `${command} rest`, force: `${command} force` });
    if (fault !== null) throw new UsageError(fault);
    const { branch } = this.chat;
    const { conversations } = this.#session;
    const isNamed = options["changes"] !== undefined || branch === null;
    const older = isNamed || redo ? "" : await earlierRequest(report, { conversations, branch });
    const number = isNamed || older !== ""
      ? 0
      : (await conversations.queries(branch)).findIndex(({ queryId }) => queryId === report.changes?.[0]?.queryId) + 1;
    const of = number === 0 ? "" : ` of request ${number}`;
    const paths = [...files.map(({ path }) => path), ...folders.map((path) => `${path}/`)].join(", ") || "no file";
    const kept = keptText(report);
    const done = redo ? `Reapplied changes${of} in ${paths}` : `Undid changes${of} in ${paths} (/redo reapplies them)`;
    // The screen cuts the end of a long message, so the refused files come first.
    const force = report.code ? `; ${command} force overwrites it` : "";
    return [kept === "" ? "" : `${kept}${force}`, done, older].filter(Boolean).join(". ");
  }

  async export(name: string): Promise<void> {
    await this.#idle("export the conversation", async () => {
      const { branch } = this.chat;
      if (branch === null) return this.tell("This conversation has no request yet");
      const { conversations, workspace } = this.#session;
      const file = name === "" ? `vis-${branch.branchId.slice(0, 13)}.md` : name;
      const path = resolve(workspace, file);
      const format = path.endsWith(".html") ? "html" : path.endsWith(".json") ? "json" : "md";
      await using made = await conversations.exports.make(branch, { conversations, format });
      const stream = ReadableStream.from(made.pieces());
      await Deno.writeFile(path, stream, { createNew: true, mode: 0o600 }).catch((error: unknown) => {
        throw new UsageError(`Cannot write ${file}: ${fileFault(error)}; name another file`);
      });
      this.tell(`Wrote ${path}`);
    });
  }

  async #idle(what: string, work: () => Promise<void> | void): Promise<void> {
    if (this.chat.running !== null) {
      return this.tell(`Cannot ${what}: a request is running; Esc cancels it`);
    }
    try {
      await work();
    } catch (error) {
      this.tell(messageOf(error));
    }
  }

  async #edit(): Promise<void> {
    const { edit } = this.#parts;
    if (edit === undefined) return;
    this.#giveUp();
    try {
      const text = await edit(this.#input.text);
      if (text !== null) this.#input.replace(text);
    } catch (error) {
      this.tell(messageOf(error));
    } finally {
      this.#take();
      this.redraw();
    }
  }

  #look(isIn: boolean): void {
    this.#looked = isIn;
    if (!isIn) return;
    void this.#readGit();
    void this.#readUndone();
  }

  /** Some terminals do not report the focus. */
  #lookAfterPause(): void {
    const now = performance.now();
    if (now - this.#keyAt > PAUSE_MS) this.#look(true);
    this.#keyAt = now;
  }

  async #readUndone({ isTold = false } = {}): Promise<UndoReport> {
    const { branch } = this.chat;
    if (branch === null) return {};
    const number = ++this.#undoneReads;
    const options = { list: true, conversation: branch.conversationId };
    const read = async (): Promise<UndoReport | null> => await runUndo(await this.#parts.extensions(), options);
    const report = await read().catch(() => null); // The next undo shows the fault.
    if (report === null) return {};
    const undone = new Set(undoneQueries(report));
    if (isTold) this.#knownUndone = undone;
    if (number !== this.#undoneReads || undone.symmetricDifference(this.#undoneQueries).size === 0) return report;
    this.#undoneQueries = undone;
    this.#repaint();
    return report;
  }

  /** Returns "" if the next undo reverts the request that the user expects. With `isTold`, the user has read the text. */
  async #changedElsewhere(branch: Branch, { isTold }: { readonly isTold: boolean }): Promise<string> {
    const known = this.#knownUndone;
    const report = await this.#readUndone({ isTold });
    const changed = new Set(undoableChanges(report).map(({ queryId }) => queryId));
    const queries = await this.#session.conversations.queries(branch);
    const newest = (undone: ReadonlySet<string>): number =>
      queries.findLastIndex(({ queryId }) => changed.has(queryId) && !undone.has(queryId)) + 1;
    const [expected, now] = [newest(known), newest(new Set(undoneQueries(report)))];
    const again = now === 0 || !isTold ? "" : `; /undo again undoes request ${now}`;
    if (now > expected) return `Changes of request ${now} were reapplied elsewhere${again}`;
    return now === expected ? "" : `Request ${expected} was undone elsewhere (/redo reapplies it)${again}`;
  }

  async #readGit(): Promise<void> {
    const number = ++this.#gitReads;
    const git = await this.#parts.gitState?.(this.#session.workspace).catch(() => "") ?? "";
    if (number !== this.#gitReads) return;
    this.#git = git;
    this.redraw();
  }

  #take(): void {
    this.#on = true;
    this.#title = "";
    this.#parts.terminal.write(TERMINAL_CODES.keepTitle);
    this.#tui.start();
    // The terminal package drops a render that the screen requested before a stop, so the screen requests it again.
    this.#tui.requestRender(true);
    if (!this.#prefs.get().mouse) this.#parts.terminal.write(TERMINAL_CODES.mouseOff);
  }

  #giveUp(): void {
    if (this.#on) {
      this.#tui.stop({ preserveScreen: true });
      this.#parts.terminal.write(TERMINAL_CODES.shellTitle);
    }
    this.#on = false;
  }

  #repaint(whole = this.#whole): void {
    this.#whole = whole;
    this.#transcript.invalidate();
    this.redraw();
  }

  #turnWhole(): void {
    this.#repaint(!this.#whole);
    this.tell(
      this.#whole
        ? "Code and results are whole now: PgUp scrolls up, Ctrl-O shortens them"
        : "Code and results are shortened now: Ctrl-O shows them whole",
    );
  }

  #turnPlan(): void {
    if (this.chat.plan.length === 0) {
      return this.tell("The model keeps no list of tasks; Alt-T shows or hides thinking");
    }
    this.#isPlanOpen = !this.#isPlanOpen;
    this.redraw();
  }

  #openInputs(): void {
    const { remembered: texts, text: typed } = this.#input;
    const use = (text: string): void => {
      this.#input.replace(text);
      this.redraw();
    };
    this.open(new InputsPanel(this.#panelParts(), { texts, typed, use }));
  }

  get #theme(): Theme {
    return this.#colors.live;
  }

  async #setPrefs(change: Partial<Prefs>): Promise<void> {
    const before = this.#prefs.get().mouse;
    const kept = this.#parts.prefs.set(change);
    const { mouse } = this.#prefs.get();
    if (before !== mouse) this.#parts.terminal.write(TERMINAL_CODES[mouse ? "mouseOn" : "mouseOff"]);
    this.#repaint();
    await kept;
  }

  #ring(why: string): void {
    if (!this.#on || !this.#prefs.get().bell) return;
    this.#parts.terminal.write(TERMINAL_CODES.bell + (this.#looked ? "" : notification(flat(why, 200))));
  }

  #entitle(): void {
    const { phase, asks, title } = this.chat.status;
    const mark = asks ? "? " : phase === "" ? "" : "… ";
    const text = `${mark}${flat(title, 60) || "vis"}`;
    if (this.#title === text) return;
    this.#title = text;
    this.#parts.terminal.setTitle(text);
  }

  #shown(): DisplayOptions {
    return { theme: this.#theme, prefs: this.#prefs.get(), whole: this.#whole, undone: this.#undoneQueries };
  }

  async #show(...[branch, at]: Parameters<PanelActions["show"]>): Promise<void> {
    const opened = branch && await this.#opened(branch);
    this.#transcript.clear();
    if (opened === null) {
      this.#transcript.add(new Greeting({ session: () => this.#session, shown: () => this.#shown() }));
    }
    const from = this.chat.branch;
    this.chat.show(branch, opened);
    const found = opened?.turns.find(({ query }) => query.queryId === at?.queryId)?.entries.find((entry) =>
      entry instanceof (at?.kind === "answer" ? AnswerEntry : RequestEntry)
    );
    if (found) this.#transcript.reveal(found);
    this.#userCommands.turn({ from, to: branch });
    if (opened?.turns.some(({ query }) => (query.work?.files ?? 0) > 0)) void this.#readUndone({ isTold: true });
    this.redraw();
  }

  async #opened(branch: Branch): ReturnType<typeof openBranch> {
    const opened = await openBranch(branch, {
      conversations: this.#session.conversations,
      shown: () => this.#shown(),
      replace: (entry, entries) => {
        this.#transcript.replace(entry, entries);
        this.redraw();
      },
      redraw: () => this.redraw(),
    });
    this.#userCommands.countFrom(opened.counts.ran);
    this.#input.countFrom(opened.counts.pasted);
    return opened;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#left;
    const { clock = REAL_CLOCK } = this.#parts;
    for (let looks = 1; !signal.aborted; looks++) {
      await clock.sleep(this.chat.isElsewhere ? WATCH_MS : LOOK_MS, signal).catch(() => {});
      if (signal.aborted) return;
      // If the database fails, the next request shows the fault.
      await this.chat.follow((branch) => this.#opened(branch)).catch(() => {});
      if (looks % UNDO_LOOKS === 0) await this.#lookAtUndone().catch(() => {});
    }
  }

  async #lookAtUndone(): Promise<void> {
    const { branch, running } = this.chat, before = this.#undoneQueries;
    if (branch === null || running !== null || !this.#looked) return;
    await this.#readUndone();
    if (before === this.#undoneQueries) return;
    const changed = await this.#changedElsewhere(branch, { isTold: false });
    if (changed !== "") this.tell(changed);
    else if (this.#told === this.#noticed) this.tell("");
    this.#noticed = changed;
  }

  #submit(outgoing: Outgoing): void {
    const { text } = outgoing;
    if (text === "") return;
    void this.#readGit();
    if (this.#questions.panel !== null && !/^[/!]/.test(text)) {
      this.#input.giveBack(outgoing);
      return this.tell("Answer the question first (y/n), or Esc to send this as an instruction");
    }
    if (!hasModel(this.#session) && !/^[/!]/.test(text)) {
      this.#waitForModel(outgoing, { isFirst: false });
      this.open(new ModelPicker(this.#panelParts()));
      return this.tell("Choose a model: Vis then sends your request");
    }
    if (isCommand(text) && text.includes("\n")) {
      this.#input.giveBack(outgoing);
      return this.tell(
        "Cannot run the command: it has several lines, but may have only one; join the lines with &&",
      );
    }
    const typed = typedText(outgoing);
    this.#history?.add(typed);
    this.#input.remember([typed]);
    this.#submitCommand(outgoing);
  }

  /** `isFirst` means that the text is the request of the command line, which must run no command of the user (`!`). */
  #submitCommand(outgoing: Outgoing, { isFirst = false }: { readonly isFirst?: boolean } = {}): void {
    const { text } = outgoing;
    const submit = (): void => {
      if (!isFirst && this.#userCommands.runs(text)) return;
      submitted(outgoing, {
        commands: this.#commands,
        send: (one) => this.chat.send(one),
        giveBack: isFirst ? null : (one) => this.#input.giveBack(one),
        tell: (told) => this.tell(told),
      });
    };
    const fresh = isOfFile(text, this.#commands) ? [this.#freshCommands(), this.#addCommands()] : [];
    if (fresh.length === 0 && this.#submitting === null) return submit();
    // Earlier lines must reach the chat first, so a later line waits for them.
    const submitting = Promise.all([this.#submitting, ...fresh]).catch(() => {}).then(submit).finally(() => {
      if (this.#submitting === submitting) this.#submitting = null;
    });
    this.#submitting = submitting;
  }

  #placeholder(): string {
    const { panel } = this.#questions;
    if (panel !== null) return `Answer with ${panel.letters}, or type an instruction`;
    const runs = this.chat.running !== null || this.chat.isElsewhere;
    if (runs) return "Add to the running request";
    return this.#session.provider === "demo" ? `Try: ${DEMO_REQUEST}` : "Ask anything";
  }

  /** Vis has to load some extensions to find their commands, so the screen adds the commands after its start. */
  async #addCommands(): Promise<void> {
    try {
      const admin = await this.#parts.extensions();
      const [added, requests] = await Promise.all([admin.commands(), admin.requests()]);
      const offered = requests.map(({ name, doc, text }) => ({ name, detail: flat(doc, 80), text }));
      if (JSON.stringify([added, offered]) === JSON.stringify([this.#added, this.#offered])) return;
      [this.#added, this.#offered] = [added, offered];
      this.#command();
    } catch { /* `vis doctor` reports why Vis cannot read extensions. */ }
  }

  async #freshCommands(): Promise<readonly PaletteCommand[]> {
    const [{ home }, { workspace }] = [this.#parts, this.#session];
    const { prompts } = await promptFiles({ workspace, home, userHome: homedir() });
    if (JSON.stringify(prompts) !== JSON.stringify(this.#prompts)) {
      this.#prompts = prompts;
      this.#commands = this.#makeCommands();
    }
    return this.#commands;
  }

  #command(): void {
    this.#commands = this.#makeCommands();
    this.#input.complete(completions(this.#commands, this.#session, () => this.#freshCommands()));
  }

  #makeCommands(): readonly PaletteCommand[] {
    return commandsOf({
      panels: this.#panelParts(),
      prefs: this.#prefs,
      uncommitted: async () => await this.#parts.gitChanges?.(this.#session.workspace) ?? null,
      retry: () => this.retry(),
      more: () => this.more(),
      whole: () => this.#turnWhole(),
      todo: () => this.#turnPlan(),
      inputs: () => this.#openInputs(),
      chat: this.chat,
      prompts: [
        ...this.#prompts,
        ...this.#offered.filter(({ name }) => this.#prompts.every((one) => one.name !== name)),
      ],
      added: this.#added,
    });
  }

  #panelParts(): PanelParts {
    return {
      session: () => this.#session,
      branch: () => this.chat.branch,
      providers: this.#parts.providers,
      config: this.#parts.config,
      extensions: this.#parts.extensions,
      act: this,
      theme: () => this.#theme,
    };
  }

  #makeKeyboard(): Keyboard {
    return new Keyboard({
      chat: this.chat,
      cancelCommand: () => this.#userCommands.cancel(),
      input: this.#input,
      transcript: this.#transcript,
      commands: () => this.#commands,
      panel: () => this.#panel,
      questions: this.#questions,
      keys: () => readKeys(this.#prefs.get().keys).keys,
      tell: (text) => this.tell(text),
      unfinished: () => this.#unfinished(),
      quit: () => this.quit(),
      leave: () => this.#done.resolve(),
      redraw: () => this.#tui.requestRender(true),
      edit: () => void this.#edit(),
      attach: () => this.#input.attach(this.#parts.clipboardImage ?? (() => Promise.resolve(null))),
      suspend: () => suspend({ giveUp: () => this.#giveUp(), take: () => this.#take() }),
    });
  }

  #facts(): FrameFacts {
    const { progress, spent, waiting, status, isCancelling } = this.chat;
    const { following } = this.#transcript;
    // The last line of the steps already shows the running call.
    const isShown = following && this.#prefs.get().iterations && progress?.phase === "calling";
    const working = ["working", progress?.callTime ?? ""].filter((text) => text !== "").join(" · ");
    return {
      theme: this.#theme,
      status: {
        ...status,
        phase: status.where + (isShown && !status.asks && !isCancelling ? working : status.phase),
        told: this.#told,
        following,
        mode: this.#input.normal ? "NORMAL" : "",
      },
      waiting,
      jobs: this.#jobs(),
      plan: {
        items: this.chat.plan,
        isOpen: this.#isPlanOpen,
        ended: this.chat.running === null && !this.chat.isElsewhere,
      },
      panel: this.#panel ?? this.#questions.panel,
      input: (width) => this.#input.lines(width),
      footer: {
        ...{ session: this.#session, spent, steps: progress?.spent, git: this.#git },
        ...{ budget: this.chat.budget, home: this.#parts.userHome },
      },
    };
  }
}
