import assert from "node:assert/strict";
import { CURSOR_MARKER, visibleWidth } from "@earendil-works/pi-tui";
import type { ProviderAdmin, Session } from "../../../../src/channels/channel.ts";
import type { Panel, PanelActions, PanelParts } from "../../../../src/channels/tui/panels/panel.ts";
import type { Conversation } from "../../../../src/conversation/conversations.ts";
import { type Engine, type EngineOptions, startEngine } from "../../../helpers/engine.ts";
import type { ScriptedReply } from "../../../helpers/scripted_provider.ts";

export const KEYS = {
  enter: "\r",
  esc: "\x1b",
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  home: "\x1b[H",
  end: "\x1b[F",
  pageUp: "\x1b[5~",
  pageDown: "\x1b[6~",
  tab: "\t",
  shiftTab: "\x1b[Z",
  delete: "\x1b[3~",
  backspace: "\x7f",
  ctrl: (letter: string) => String.fromCharCode(letter.charCodeAt(0) - 96),
} as const;

/** Matches characters that no line of a panel may have: terminal commands other than text weights, and turned
 * directions. */
// deno-lint-ignore no-control-regex
const COMMANDS = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
// deno-lint-ignore no-control-regex
const WEIGHTS = /\x1b\[(?:0|1|2|3|7|22|23|27)?m/g;

export class PanelRig implements AsyncDisposable {
  readonly engine: Engine;
  readonly parts: PanelParts;
  /** The actions on the screen, such as "close", "copy" and "fork", with their arguments. */
  readonly done: (readonly [string, unknown])[] = [];
  branch: Conversation | null;
  redraws = 0;
  #waiting: (() => void)[] = [];

  constructor(engine: Engine, { session = {}, admin }: {
    readonly session?: Partial<Session>;
    readonly admin?: Partial<ProviderAdmin>;
  } = {}) {
    this.engine = engine;
    this.branch = engine.branch;
    const { conversations } = engine;
    const here: Session = {
      ...{ conversations, workspace: "/work", provider: "scripted", model: "script", database: "" },
      close: () => Promise.resolve(),
      ...session,
    };
    const note = (name: string) => (what?: unknown): void => void this.done.push([name, what]);
    const later = (name: string) => (what: unknown): Promise<void> => Promise.resolve(note(name)(what));
    const act: PanelActions = {
      redraw: () => {
        this.redraws++;
        for (const wake of this.#waiting.splice(0)) wake();
      },
      close: note("close"),
      open: note("open"),
      tell: note("tell"),
      show: later("show"),
      fork: later("fork"),
      useModel: later("useModel"),
      useDemo: () => Promise.resolve(note("useDemo")(null)),
      copy: note("copy"),
      undo: () => Promise.resolve(),
      export: later("export"),
      rewind: later("rewind"),
      compose: note("compose"),
      keep: note("keep"),
      quit: note("quit"),
    };
    this.parts = {
      session: () => here,
      branch: () => this.branch,
      providers: () => Promise.resolve(admin as ProviderAdmin),
      config: () => Promise.reject(new Error("Not asked for in panels")),
      extensions: () => Promise.reject(new Error("Not asked for in panels")),
      act,
    };
  }

  all(kind: string): unknown[] {
    return this.done.filter(([name]) => name === kind).map(([, what]) => what);
  }

  /** Resolves when the panel shows this. Rejects after this many redraws without it. */
  async until(panel: Panel, wanted: RegExp, { width = 80, rows = 24 } = {}): Promise<string> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`Cannot see ${wanted}:\n${shown(panel, { width, rows })}`)),
      30_000,
    );
    try {
      while (true) {
        const text = shown(panel, { width, rows });
        if (wanted.test(text)) return text;
        await Promise.race([new Promise<void>((resolve) => this.#waiting.push(resolve)), late.promise]);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async does(kind: string): Promise<unknown> {
    for (let turn = 0; turn < 1_000; turn++) {
      const found = this.done.findLast(([name]) => name === kind);
      if (found) return found[1];
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`Cannot see ${kind}: ${JSON.stringify(this.done.map(([name]) => name))}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine.close();
  }
}

export async function startPanels(
  replies: readonly ScriptedReply[] = [],
  { engine, ...rest }: ConstructorParameters<typeof PanelRig>[1] & { readonly engine?: EngineOptions } = {},
): Promise<PanelRig> {
  return new PanelRig(await startEngine(replies, { workspace: "/work", ...engine }), rest);
}

/** Returns the lines of a panel as a person sees them. Fails if a line is too long, or could command a terminal. */
export function shown(panel: Panel, { width = 80, rows = 24 } = {}): string {
  panel.fit(rows);
  const lines = panel.render(width).map((line) => line.replaceAll(CURSOR_MARKER, "").replace(WEIGHTS, ""));
  assert.ok(lines.length <= rows, `${lines.length} lines in ${rows} rows`);
  for (const line of lines) {
    assert.ok(!COMMANDS.test(line), `A line commands the terminal: ${JSON.stringify(line)}`);
    assert.ok(visibleWidth(line) <= width, `${visibleWidth(line)} columns of ${width}: ${JSON.stringify(line)}`);
  }
  assert.ok(!COMMANDS.test(panel.title) && !COMMANDS.test(panel.hint));
  return lines.map((line) => line.trimEnd()).join("\n");
}

export function selected(panel: Panel, size: { readonly width?: number; readonly rows?: number } = {}): string {
  return shown(panel, size).split("\n").find((line) => line.startsWith("❯")) ?? "";
}

export function type(panel: Panel, ...keys: readonly string[]): void {
  for (const key of keys) panel.handleInput(key);
}

export const HOSTILE = "a\x1b[2J\x1b]0;t\x07b\r\nc\u202edef\u2066\u009b31m\ud800 漢字 👩‍👩‍👧 שלום";
export const WIDTHS = [40, 80, 200] as const;
