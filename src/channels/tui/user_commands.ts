import type { Conversation as Branch } from "../../conversation/conversations.ts";
import { messageOf } from "../../domain/errors.ts";
import { runningText, terminalText } from "../../domain/kit/text.ts";
import { CommandEntry } from "./entries/command_entry.ts";
import type { DisplayOptions } from "./entries/entry.ts";
import type { Transcript } from "./entries/transcript.ts";
import type { Session } from "../channel.ts";

const MAX_CHARS = 1_000_000;
const SHORT_MS = 1_000;

export type RunCommand = (
  command: string,
  options: { readonly cwd: string; readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
) => Promise<string>;

interface UserCommandsParts {
  readonly run: RunCommand;
  readonly screen: { readonly session: Session; redraw(): void; tell(text: string): void };
  readonly transcript: Pick<Transcript, "add" | "toEnd">;
  readonly shown: () => DisplayOptions;
  readonly worked: () => void;
}

interface RunningCommand {
  readonly title: string;
  readonly startedAt: number;
  readonly ending: AbortController;
  output: string;
}

interface TypedCommand {
  readonly entry: CommandEntry;
  output: { readonly name: string; readonly text: string } | null;
}

export interface TakenOutputs {
  readonly variables: Readonly<Record<string, string>>;
  readonly giveBack: () => void;
}

export function isCommand(text: string): boolean {
  return /^!\s*\S/.test(text);
}

export class UserCommands {
  readonly #parts: UserCommandsParts;
  #running: RunningCommand | null = null;
  #ended: Promise<unknown> = Promise.resolve();
  #count = 0;
  #here: readonly TypedCommand[] = [];
  readonly #elsewhere = new Map<string, readonly TypedCommand[]>();

  constructor(parts: UserCommandsParts) {
    this.#parts = parts;
  }

  countFrom(number: number): void {
    this.#count = Math.max(this.#count, number);
  }

  runs(text: string): boolean {
    if (!isCommand(text)) return false;
    const ended = this.#run(text.slice(1).trim());
    this.#ended = Promise.all([this.#ended, ended]);
    return true;
  }

  get running(): RunningCommand | null {
    return this.#running;
  }

  get ended(): Promise<unknown> {
    return this.#ended;
  }

  turn({ from, to }: { readonly from: Branch | null; readonly to: Branch | null }): void {
    if (from !== null) this.#elsewhere.set(from.conversationId, this.#here);
    this.#here = to === null ? [] : this.#elsewhere.get(to.conversationId) ?? [];
    this.#parts.transcript.add(...this.#here.map(({ entry }) => entry));
  }

  take(): TakenOutputs {
    const taken = this.#here.filter(({ output }) => output !== null);
    this.#here = this.#here.filter(({ output }) => output === null);
    return {
      variables: Object.fromEntries(taken.flatMap(({ output }) => output === null ? [] : [[output.name, output.text]])),
      giveBack: () => void (this.#here = [...taken, ...this.#here]),
    };
  }

  async #run(command: string): Promise<void> {
    const { transcript, shown, screen } = this.#parts;
    if (this.#running) return screen.tell("A command is running; Esc ends it");
    const entry = new CommandEntry(command, shown);
    const startedAt = Date.now();
    const running: RunningCommand = { title: `$ ${command}`, startedAt, ending: new AbortController(), output: "" };
    this.#running = running;
    const typed: TypedCommand = { entry, output: null };
    this.#here = [...this.#here, typed];
    transcript.add(entry);
    transcript.toEnd();
    screen.redraw();
    const onOutput = (text: string): void => {
      running.output = (running.output + text).slice(-MAX_CHARS);
      entry.show(running.output);
      screen.redraw();
    };
    const { signal } = running.ending;
    const failed = await this.#parts.run(command, { cwd: screen.session.workspace, signal, onOutput }).catch(messageOf);
    this.#running = null;
    this.#parts.worked();
    const name = `ran_${++this.#count}`;
    const { output } = running;
    const told = signal.aborted ? "ended by the user" : failed;
    typed.output = { name, text: `$ ${command}\n${terminalText(output)}${told === "" ? "" : `\n(${told})`}` };
    const ms = Date.now() - startedAt;
    const how = [
      signal.aborted ? "you ended it" : failed,
      ms < SHORT_MS ? "" : runningText(ms),
      `the next request can read this as ${name}`,
    ];
    entry.show(output, { end: how.filter((part) => part !== "").join(" · ") });
    screen.redraw();
  }

  cancel(): boolean {
    const running = this.#running;
    running?.ending.abort();
    if (running !== null) this.#parts.screen.redraw();
    return running !== null;
  }
}
