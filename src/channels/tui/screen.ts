import { setKeybindings, TuiAltScreen } from "@earendil-works/pi-tui";
import type { Conversation as Branch } from "../../conversation/conversations.ts";
import type { Session } from "../channel.ts";
import { Actions } from "./actions.ts";
import { ChatController } from "./chat.ts";
import type { PaletteCommand } from "./input/command.ts";
import { commandsOf } from "./commands.ts";
import { completions } from "./input/completions.ts";
import { footerLine } from "./footer.ts";
import { type FrameFacts, ScreenFrame } from "./frame.ts";
import { freshKeys } from "./fresh_keys.ts";
import { Greeting } from "./greeting.ts";
import { ImageReader } from "./input/image_reader.ts";
import { InputBox } from "./input/input_box.ts";
import { InputHistory } from "./input/input_history.ts";
import { submitted } from "./input/submitted.ts";
import { Keyboard } from "./keyboard.ts";
import { LineEntry } from "./entries/line_entry.ts";
import { openBranch } from "./open_branch.ts";
import type { Outgoing } from "./input/outgoing.ts";
import { Painter } from "./painter.ts";
import type { Panel, PanelParts } from "./widgets/panel.ts";
import type { Prefs, PrefsKeeper } from "./prefs/prefs.ts";
import { type PromptFile, promptFiles } from "./input/prompt_files.ts";
import { Questions } from "./questions.ts";
import type { ScreenParts, ScreenStart } from "./screen_parts.ts";
import type { DisplayOptions } from "./entries/shown.ts";
import { ScreenTheme } from "./screen_theme.ts";
import { suspend } from "./suspend.ts";
import { TERMINAL_CODES } from "./terminal_codes.ts";
import type { Theme } from "./text/theme.ts";
import { Transcript } from "./entries/transcript.ts";
import { typedText } from "./input/typed_text.ts";
import { UserCommands } from "./user_commands.ts";

/** The terminal's screen: messages, input and panels. The caller that opened the session closes it, after `ended`. */
export class Screen {
  readonly #parts: ScreenParts;
  readonly #tui: TuiAltScreen;
  readonly #prefs: PrefsKeeper;
  readonly #painter: Painter;
  readonly #transcript = new Transcript();
  readonly chat: ChatController;
  readonly #input: InputBox;
  readonly #actions: Actions;
  readonly #keyboard: Keyboard;
  readonly #questions: Questions;
  readonly #userCommands: UserCommands;
  readonly #frame: ScreenFrame;
  #prompts: readonly PromptFile[] = [];
  #commands: readonly PaletteCommand[] = [];
  readonly #done = Promise.withResolvers<void>();
  #session: Session;
  #panel: Panel | null = null;
  readonly #colors: ScreenTheme;
  #whole = false;
  #told = "";
  #history: InputHistory | null = null;
  #on = false;

  constructor(parts: ScreenParts, session: Session) {
    this.#parts = parts;
    this.#session = session;
    this.#prefs = { get: () => parts.prefs.get(), set: (change) => this.#setPrefs(change) };
    this.#colors = new ScreenTheme({ prefs: parts.prefs, color: parts.color });
    setKeybindings(freshKeys());
    this.#tui = new TuiAltScreen(parts.terminal);
    this.chat = new ChatController({
      session: () => this.#session,
      transcript: this.#transcript,
      shown: () => this.#shown(),
      changed: () => this.changed(),
      approve: (question, signal) => this.#questions.approve(question, signal),
      ring: () => this.#ring(),
      giveBack: (outgoing) => this.#input.giveBack(outgoing),
    });
    this.#userCommands = new UserCommands({
      ...{ run: parts.runCommand, screen: this, transcript: this.#transcript, shown: () => this.#shown() },
    });
    this.#actions = new Actions({
      ...{ screen: this, chat: this.chat, screenParts: parts },
      show: (branch) => this.#show(branch),
      use: (session) => void (this.#session = session),
    });
    const cancel = (): void => void this.chat.cancel();
    this.#questions = new Questions({
      ...{ panels: this.#panelParts(), open: () => this.#panel, cancel, ring: () => this.#ring() },
    });
    this.#input = new InputBox(this.#tui, {
      ...{ theme: this.#theme.editor, submit: (outgoing: Outgoing) => this.#submit(outgoing) },
      images: new ImageReader({ session: () => this.#session, userHome: parts.userHome }),
      chip: (text) => this.#theme.accent(text),
      placeholder: () => this.#theme.dim(this.chat.running === null ? "Ask anything" : "Add to the running request"),
      tell: (text) => this.tell(text),
    });
    this.#keyboard = this.#makeKeyboard();
    this.#frame = new ScreenFrame({
      transcript: this.#transcript,
      rows: () => parts.terminal.rows,
      facts: () => this.#facts(),
      wheel: (direction) => this.#keyboard.wheel(direction),
    });
    this.#painter = new Painter({ draw: () => this.#tui.requestRender(), cost: () => this.#frame.cost });
  }

  /** Replaced after the model changes. */
  get session(): Session {
    return this.#session;
  }

  /** Resolves when the user quits. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** Takes over the terminal. Resolves when the conversation is shown; rejects with `StoreError`. */
  async start({ branch, notes }: ScreenStart): Promise<void> {
    this.#tui.setLayoutRoot(this.#frame);
    // What the focused component gets is drawn at once; other redraws wait for the time between two frames.
    const handleInput = (data: string): void => this.#keyboard.key(data);
    this.#tui.setFocus({ handleInput, render: () => [], invalidate: () => {} });
    this.#input.component.focused = true;
    const [{ home }, { workspace }] = [this.#parts, this.#session];
    const [history, files] = await Promise.all([InputHistory.at(home, workspace), promptFiles({ workspace, home })]);
    [this.#history, this.#prompts] = [history, files.prompts];
    this.#commands = this.#makeCommands();
    this.#input.remember(await this.#history?.read() ?? []); // before the first key
    this.#take();
    void this.#colors.ask(this.#tui).then((known) => known && this.#repaint());
    this.#input.complete(completions(this.#commands, workspace));
    await this.#show(branch);
    for (const note of [...notes, ...files.notes]) {
      this.#transcript.add(new LineEntry(note, (text) => this.#theme.dim(text)));
    }
    this.changed();
  }

  /** Restores the terminal. May be called at any time, and repeatedly. */
  stop(): void {
    this.#painter.stop();
    this.open(null);
    this.#giveUp();
  }

  /** Resolves when none of its work is running. */
  async ended(): Promise<void> {
    this.chat.cancel();
    this.#userCommands.cancel();
    await Promise.all([this.chat.ended, this.#history?.settled()]);
  }

  quit(): void {
    this.#done.resolve();
  }

  /** Schedules a redraw. */
  changed(): void {
    if (!this.#on) return;
    this.#painter.tick(this.chat.running !== null);
    this.#painter.soon();
  }

  tell(text: string): void {
    if (this.#told === text) return;
    this.#told = text;
    this.changed();
  }

  /** Replaces the open panel; null closes it. */
  open(panel: Panel | null): void {
    if (this.#panel !== panel) this.#panel?.left();
    this.#panel = panel;
    this.#input.component.focused = panel === null;
    this.changed();
  }

  #take(): void {
    this.#on = true;
    this.#tui.start();
    this.#tui.requestRender(true); // a render requested before a stop never happened
    if (!this.#prefs.get().mouse) this.#parts.terminal.write(TERMINAL_CODES.mouseOff);
  }

  #giveUp(): void {
    if (this.#on) this.#tui.stop({ preserveScreen: true });
    this.#on = false;
  }

  #repaint(whole = this.#whole): void {
    this.#whole = whole;
    this.#transcript.invalidate();
    this.changed();
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

  #ring(): void {
    if (this.#on && this.#prefs.get().bell) this.#parts.terminal.write(TERMINAL_CODES.bell);
  }

  #shown(): DisplayOptions {
    return { theme: this.#theme, prefs: this.#prefs.get(), whole: this.#whole };
  }

  async #show(branch: Branch | null): Promise<void> {
    const shown = (): DisplayOptions => this.#shown();
    const replace: Transcript["replace"] = (entry, entries) => {
      this.#transcript.replace(entry, entries);
      this.changed();
    };
    const opened = branch && await openBranch(branch, { conversations: this.#session.conversations, shown, replace });
    this.#transcript.clear();
    this.#transcript.add(...opened?.entries ?? [new Greeting({ session: () => this.#session, shown })]);
    this.chat.show(branch, opened ?? {});
    this.changed();
  }

  #submit(outgoing: Outgoing): void {
    const { text } = outgoing;
    if (text === "") return;
    const typed = typedText(outgoing);
    this.#history?.add(typed);
    this.#input.remember([typed]);
    if (this.#userCommands.runs(text)) return;
    submitted(outgoing, {
      commands: this.#commands,
      send: (one) => this.chat.send(this.#userCommands.attached(one, this.chat)),
      ...{ giveBack: (one) => this.#input.giveBack(one), tell: (told) => this.tell(told) },
    });
  }

  #makeCommands(): readonly PaletteCommand[] {
    return commandsOf({
      panels: this.#panelParts(),
      prefs: this.#prefs,
      retry: () => this.#actions.retry(),
      whole: () => this.#repaint(!this.#whole),
      chat: this.chat,
      prompts: this.#prompts,
    });
  }

  #panelParts(): PanelParts {
    return {
      session: () => this.#session,
      branch: () => this.chat.branch,
      providers: this.#parts.providers,
      config: this.#parts.config,
      act: this.#actions,
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
      answer: () => this.#questions.turn(),
      keys: () => this.#prefs.get().keys,
      tell: (text) => this.tell(text),
      quit: () => this.quit(),
      redraw: () => this.#tui.requestRender(true),
      suspend: () => suspend({ giveUp: () => this.#giveUp(), take: () => this.#take() }),
    });
  }

  #facts(): FrameFacts {
    const { running, spent, waiting } = this.chat;
    const facts = { session: this.#session, spent, steps: running?.turn.progress.spent, home: this.#parts.userHome };
    return {
      theme: this.#theme,
      status: {
        ...this.chat.status,
        told: this.#told,
        following: this.#transcript.following,
      },
      waiting,
      panel: this.#panel ?? this.#questions.panel,
      input: (width) => this.#input.lines(width),
      footer: (width) => footerLine(facts, { width, theme: this.#theme }),
    };
  }
}
