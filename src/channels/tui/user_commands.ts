import { messageOf } from "../../domain/errors.ts";
import type { ChatController } from "./chat.ts";
import { CommandEntry } from "./entries/command_entry.ts";
import type { DisplayOptions } from "./entries/entry.ts";
import type { Transcript } from "./entries/transcript.ts";
import type { Outgoing } from "./input/outgoing.ts";
import type { Session } from "../channel.ts";

/** The limit for the characters of one command's output; the end is kept. */
const MAX_CHARS = 1_000_000;

/** Runs a command with the rights of the user, in a folder, and reports its output as it arrives. Resolves with a
 * description of a failure; "" if it succeeded. */
export type RunCommand = (
  command: string,
  options: { readonly cwd: string; readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
) => Promise<string>;

interface UserCommandsParts {
  readonly run: RunCommand;
  readonly screen: { readonly session: Session; redraw(): void; tell(text: string): void };
  readonly transcript: Pick<Transcript, "add" | "toEnd">;
  readonly shown: () => DisplayOptions;
  /** Reacts to the end of a command, which may have changed files. */
  readonly worked: () => void;
}

/** Commands that the user types after `!`. The output of the commands goes with the next request, as variables. */
export class UserCommands {
  readonly #parts: UserCommandsParts;
  #running: AbortController | null = null;
  #count = 0;
  #outputs: Record<string, string> = {};

  constructor(parts: UserCommandsParts) {
    this.#parts = parts;
  }

  countFrom(number: number): void {
    this.#count = Math.max(this.#count, number);
  }

  runs(text: string): boolean {
    const [, command = ""] = /^!\s*(\S[^]*)/.exec(text) ?? [];
    if (command !== "") void this.#run(command);
    return command !== "";
  }

  /** Returns the message with the output since the last one. A message to a running request stays unchanged: with
   * variables it would wait for the end of the request. */
  attached(outgoing: Outgoing, { running }: Pick<ChatController, "running">): Outgoing {
    if (running !== null) return outgoing;
    const variables = { ...this.#outputs, ...outgoing.variables };
    this.#outputs = {};
    return { ...outgoing, variables };
  }

  async #run(command: string): Promise<void> {
    const { transcript, shown, screen } = this.#parts;
    if (this.#running) return screen.tell("A command is running; Esc ends it");
    const entry = new CommandEntry(command, shown);
    const running = this.#running = new AbortController();
    transcript.add(entry);
    transcript.toEnd();
    screen.redraw();
    let output = "";
    const onOutput = (text: string): void => {
      output = (output + text).slice(-MAX_CHARS);
      entry.show(output);
      screen.redraw();
    };
    const options = { cwd: screen.session.workspace, signal: running.signal, onOutput };
    const failed = await this.#parts.run(command, options).catch(messageOf);
    this.#running = null;
    this.#parts.worked();
    const name = `ran_${++this.#count}`;
    this.#outputs[name] = `$ ${command}\n${output}${failed === "" ? "" : `\n(${failed})`}`;
    entry.show(output, { end: `${failed === "" ? "" : `${failed} · `}the next request can read this as ${name}` });
    screen.redraw();
  }

  cancel(): boolean {
    const running = this.#running;
    running?.abort();
    return running !== null;
  }
}
