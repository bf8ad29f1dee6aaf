import { aborted } from "../../../domain/kit/abortable.ts";
import { Cancelled, ConfigError } from "../../../domain/errors.ts";
import type { Io, Services, TelegramRequest } from "../../channel.ts";
import { interrupt } from "../input/interrupt.ts";
import { visibleText } from "../../../domain/text/visible_text.ts";

export type TelegramFlags = Omit<TelegramRequest, "onNote" | "signal">;

const KEY = "telegram.allow";

/** `vis telegram` and the list of its users. */
export class TelegramCommand {
  readonly #services: Services;
  readonly #io: Io;

  constructor({ services, io }: { readonly services: Services; readonly io: Io }) {
    this.#services = services;
    this.#io = io;
  }

  /** Runs the bot until it is interrupted or cannot continue. Resolves with the exit code. */
  async run(flags: TelegramFlags): Promise<number> {
    using interrupted = interrupt(this.#io);
    const { signal } = interrupted;
    const onNote = (text: string): void => this.#io.stderr(`vis · ${visibleText(text)}\n`);
    try {
      const bot = await this.#services.telegram({ ...flags, onNote, signal });
      this.#io.stdout(`https://t.me/${bot.username}\n`);
      onNote(`@${bot.username} · ${bot.provider} ${bot.model}`);
      for (const note of bot.notes) onNote(note);
      try {
        await Promise.race([bot.ended, aborted(signal)]);
      } finally {
        if (signal.aborted) onNote("shutting down: running requests may finish; press Ctrl-C again to stop at once");
        await bot.close();
      }
      return 0;
    } catch (error) {
      if (error instanceof Cancelled && signal.aborted) return 0;
      throw error;
    }
  }

  async allow(added: readonly number[]): Promise<number> {
    const before = await this.#allowed();
    return await this.#write([...new Set([...before, ...added])], before);
  }

  async disallow(removed: readonly number[]): Promise<number> {
    const before = await this.#allowed();
    return await this.#write(before.filter((id) => !removed.includes(id)), before);
  }

  async #allowed(): Promise<readonly number[]> {
    const { value } = await (await this.#services.configAdmin({})).explain(KEY);
    if (!Array.isArray(value)) throw new ConfigError(`Cannot use ${KEY}: it must be a list`);
    return value.filter((id) => typeof id === "number");
  }

  async #write(ids: readonly number[], before: readonly number[]): Promise<number> {
    const admin = await this.#services.configAdmin({});
    if (ids.length !== before.length) await admin.set(KEY, { words: [JSON.stringify(ids)], project: false });
    const names = ids.length === 0 ? "nobody" : ids.join(", ");
    this.#io.stderr(`vis: the bot answers ${names} (${KEY} in ${visibleText(admin.path({ project: false }))})\n`);
    return 0;
  }
}
