import { isKeyRelease, setKeybindings, TuiAltScreen } from "@earendil-works/pi-tui";
import type { Conversation as Branch } from "../../conversation/conversations.ts";
import type { Session } from "../channel.ts";
import { Actions } from "./actions.ts";
import { Chat } from "./chat.ts";
import { commandsOf } from "./commands.ts";
import { completions } from "./completions.ts";
import { footerLine } from "./footer.ts";
import { Frame, type FrameFacts } from "./frame.ts";
import { freshKeys } from "./fresh_keys.ts";
import { InputBox } from "./input_box.ts";
import { InputHistory } from "./input_history.ts";
import { type KeyAction, keyAction } from "./key_action.ts";
import { LineEntry } from "./line_entry.ts";
import { openBranch } from "./open_branch.ts";
import type { Outgoing } from "./outgoing.ts";
import type { Panel, PanelParts } from "./panel.ts";
import type { ScreenParts, ScreenStart } from "./screen_parts.ts";
import type { Shown } from "./shown.ts";
import { makeTheme, type Theme } from "./theme.ts";
import { Transcript } from "./transcript.ts";

const WHEEL_ROWS = 3;
/** Between two frames of what streams in, and how many times the cost of one frame is left for everything else. */
const FRAME_MS = 33;
const SPARE = 4;
const TICK_MS = 250;
const TWICE_MS = 2_000;

/** The terminal's screen: messages, input and panels. Whoever opened the session closes it, after `stop`. */
export class Screen {
  readonly #parts: ScreenParts;
  readonly #tui: TuiAltScreen;
  readonly #frame: Frame;
  readonly #transcript = new Transcript();
  readonly #chat: Chat;
  readonly #input: InputBox;
  readonly #actions: Actions;
  readonly #done = Promise.withResolvers<void>();
  #session: Session;
  #panel: Panel | null = null;
  #theme: Theme;
  #whole = false;
  #told = "";
  #title = "";
  #history: InputHistory | null = null;
  #drawing: ReturnType<typeof setTimeout> | null = null;
  #ticking: ReturnType<typeof setInterval> | null = null;
  #interrupted = -Infinity;

  constructor(parts: ScreenParts, { session }: Pick<ScreenStart, "session">) {
    this.#parts = parts;
    this.#session = session;
    this.#theme = makeTheme({ color: parts.color, dark: darkOf(parts.prefs.get().theme) });
    setKeybindings(freshKeys());
    this.#tui = new TuiAltScreen(parts.terminal, false, undefined, { mouse: parts.prefs.get().mouse });
    const shown = (): Shown => ({ theme: this.#theme, prefs: this.#parts.prefs.get(), whole: this.#whole });
    this.#chat = new Chat({
      session: () => this.#session,
      transcript: this.#transcript,
      shown,
      changed: () => this.changed(),
      giveBack: (outgoing) => this.#input.giveBack(outgoing),
    });
    this.#actions = new Actions({
      ...{ screen: this, chat: this.#chat, screenParts: parts },
      show: (branch) => this.#show(branch, shown),
      use: (session) => void (this.#session = session),
    });
    this.#input = new InputBox(this.#tui, {
      theme: this.#theme.editor,
      submit: (outgoing) => this.#submit(outgoing),
    });
    this.#frame = new Frame({
      transcript: this.#transcript,
      rows: () => parts.terminal.rows,
      facts: () => this.#facts(),
      wheel: (direction) => this.#wheel(direction),
    });
  }

  /** What panels and commands are given. */
  get panelParts(): PanelParts {
    return {
      session: () => this.#session,
      branch: () => this.#chat.branch,
      providers: this.#parts.providers,
      config: this.#parts.config,
      act: this.#actions,
    };
  }

  get session(): Session {
    return this.#session;
  }

  get chat(): Chat {
    return this.#chat;
  }

  /** Resolves when the user leaves. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** Takes the terminal. Resolves when the conversation stands on it. */
  async start({ branch, notes }: Omit<ScreenStart, "session">): Promise<void> {
    this.#tui.setLayoutRoot(this.#frame);
    this.#tui.addInputListener((data) => this.#key(data));
    this.#tui.setFocus(this.#input.component);
    this.#tui.start();
    void this.#askBackground();
    this.#input.complete(completions(commandsOf(this), this.#session.workspace));
    for (const note of notes) this.#transcript.add(new LineEntry(note, (text) => this.#theme.dim(text)));
    this.#history = await InputHistory.at(this.#parts.home, this.#session.workspace);
    this.#input.remember(await this.#history?.read() ?? []);
    if (branch !== null) await this.#actions.show(branch);
    this.changed();
  }

  /** Gives the terminal back as it was. May be called at any time, and again. */
  stop(): void {
    if (this.#drawing !== null) clearTimeout(this.#drawing);
    if (this.#ticking !== null) clearInterval(this.#ticking);
    this.#panel?.left();
    this.#panel = null;
    this.#tui.stop({ preserveScreen: true });
  }

  /** Resolves when nothing of it is at work any more. */
  async ended(): Promise<void> {
    this.#chat.cancel();
    await Promise.all([this.#chat.ended, this.#history?.settled()]);
  }

  quit(): void {
    this.#done.resolve();
  }

  /** Draws again, soon. */
  changed(): void {
    this.#tick();
    if (this.#drawing !== null) return;
    this.#drawing = setTimeout(() => {
      this.#drawing = null;
      this.#tui.requestRender();
    }, Math.max(FRAME_MS, SPARE * this.#frame.cost));
  }

  tell(text: string): void {
    this.#told = text;
    this.changed();
  }

  /** In place of the one that is open; null for none. */
  open(panel: Panel | null): void {
    if (this.#panel !== panel) this.#panel?.left();
    this.#panel = panel;
    this.#tui.setFocus(panel === null ? this.#input.component : null);
    this.#tui.requestRender();
  }

  /** Whole blocks and results, or their first lines again. */
  toggleWhole(): void {
    this.#whole = !this.#whole;
    this.repaint();
  }

  /** Everything anew: settings changed. */
  repaint(): void {
    this.#theme = makeTheme({ color: this.#parts.color, dark: darkOf(this.#parts.prefs.get().theme) ?? this.#dark });
    this.#transcript.invalidate();
    this.#tui.requestRender(true);
  }

  #dark: boolean | null = null;

  async #askBackground(): Promise<void> {
    const rgb = await this.#tui.queryTerminalBackgroundColor({ timeoutMs: 500 });
    if (rgb === undefined) return;
    this.#dark = (0.299 * rgb.r + 0.587 * rgb.g + 0.114 * rgb.b) < 128;
    this.repaint();
  }

  async #show(branch: Branch | null, shown: () => Shown): Promise<void> {
    const { conversations } = this.#session;
    const replace: Transcript["replace"] = (entry, entries) => {
      this.#transcript.replace(entry, entries);
      this.changed();
    };
    const opened = branch && await openBranch(branch, { conversations, shown, replace });
    this.#transcript.clear();
    this.#transcript.add(...opened?.entries ?? []);
    this.#chat.show(branch, opened ?? {});
    this.#title = branch?.title ?? "";
    this.changed();
  }

  #submit(outgoing: Outgoing): void {
    const [, name, argument = ""] = /^\/([a-z]+)(?:\s+([^]*))?$/.exec(outgoing.text) ?? [];
    if (outgoing.text === "") return;
    this.#history?.add(outgoing.text);
    this.#input.remember([outgoing.text]);
    if (name === undefined) return this.#chat.send(outgoing);
    const command = commandsOf(this).find((one) => one.name === name);
    if (command) return void command.run(argument.trim());
    this.#input.giveBack(outgoing);
    this.tell(`There is no /${name}: /help shows what there is`);
  }

  #key(data: string): { readonly consume: true } {
    if (isKeyRelease(data)) return { consume: true };
    this.#told = "";
    if (this.#panel !== null) this.#panel.handleInput(data);
    else {
      const action = keyAction(data, {
        empty: this.#input.empty,
        choosing: this.#input.choosing,
        waiting: this.#chat.waiting.length > 0,
        following: this.#transcript.following,
      });
      if (action === null) this.#input.key(data);
      else this.#act(action);
    }
    this.#tui.requestRender();
    return { consume: true };
  }

  #act(action: KeyAction): void {
    switch (action) {
      case "interrupt":
        return this.#interrupt();
      case "escape":
        return void this.#chat.cancel();
      case "takeBack": {
        const back = this.#chat.takeBack();
        return back === null ? undefined : this.#input.giveBack(back);
      }
      case "pageUp":
        return this.#transcript.page(-1);
      case "pageDown":
        return this.#transcript.page(1);
      case "lineUp":
        return this.#transcript.scroll(-1);
      case "lineDown":
        return this.#transcript.scroll(1);
      case "start":
        return this.#transcript.toStart();
      case "end":
        return this.#transcript.toEnd();
      case "redraw":
        return this.#tui.requestRender(true);
      case "quit":
        return this.quit();
      case "suspend":
        return this.#suspend();
      default:
        return void commandsOf(this).find(({ name }) => name === action)?.run("");
    }
  }

  /** Ctrl-C: empties the input, ends what runs, and leaves when it comes twice. */
  #interrupt(): void {
    const now = performance.now();
    if (now - this.#interrupted < TWICE_MS) return this.quit();
    this.#interrupted = now;
    if (!this.#input.empty) this.#input.clear();
    else this.#chat.cancel();
    this.#told = "Ctrl-C again leaves";
  }

  /** Back to the shell, until `fg`. */
  #suspend(): void {
    if (Deno.build.os === "windows") return;
    this.#tui.stop({ preserveScreen: true });
    const back = (): void => {
      Deno.removeSignalListener("SIGCONT", back);
      this.#tui.start();
      this.#tui.requestRender(true);
    };
    Deno.addSignalListener("SIGCONT", back);
    Deno.kill(Deno.pid, "SIGSTOP");
  }

  #wheel(direction: number): void {
    if (this.#panel === null) return this.#transcript.scroll(direction * WHEEL_ROWS);
    for (let n = 0; n < WHEEL_ROWS; n++) this.#panel.handleInput(direction < 0 ? "\x1b[A" : "\x1b[B");
  }

  #facts(): FrameFacts {
    const { running, spent, waiting } = this.#chat;
    return {
      theme: this.#theme,
      status: {
        phase: running?.turn.phase ?? "",
        ms: running ? Date.now() - running.since : 0,
        told: this.#told,
        following: this.#transcript.following,
        title: this.#title,
      },
      waiting,
      panel: this.#panel,
      input: (width) => this.#input.lines(width),
      footer: (width) => {
        const iteration = running?.turn.iteration ?? 0;
        const facts = { session: this.#session, spent, iteration, home: this.#parts.userHome };
        return footerLine(facts, { width, theme: this.#theme });
      },
    };
  }

  /** Time passes on the screen only while a query runs. */
  #tick(): void {
    const runs = this.#chat.running !== null;
    if (runs && this.#ticking === null) this.#ticking = setInterval(() => this.#tui.requestRender(), TICK_MS);
    if (!runs && this.#ticking !== null) {
      clearInterval(this.#ticking);
      this.#ticking = null;
    }
  }
}

function darkOf(theme: "auto" | "dark" | "light"): boolean | null {
  return theme === "auto" ? null : theme === "dark";
}
