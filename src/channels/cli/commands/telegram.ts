import { Cancelled, ConfigError } from "../../../domain/errors.ts";
import { aborted } from "../../../domain/kit/concurrency.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import type { TelegramRequest } from "../../channel.ts";
import { interrupt } from "../output.ts";
import type { CommandInput } from "../program/command.ts";

type TelegramFlags = Omit<TelegramRequest, "onNote" | "signal">;

const KEY = "telegram.allow";

type Place = Pick<CommandInput<unknown>, "services" | "io">;

/** `vis telegram`: runs the bot until it is interrupted or cannot continue. Resolves with the exit code. */
export async function telegramCommand({ services, io, flags }: CommandInput<TelegramFlags>): Promise<number> {
  using interrupted = interrupt(io);
  const { signal } = interrupted;
  const onNote = (text: string): void => io.stderr(`vis · ${visibleText(text)}\n`);
  try {
    const bot = await services.telegram({ ...flags, onNote, signal });
    io.stdout(`https://t.me/${bot.username}\n`);
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

/** `vis telegram allow`. */
export async function allowUsers(added: readonly number[], place: Place): Promise<number> {
  return await change((before) => [...new Set([...before, ...added])], place);
}

/** `vis telegram disallow`. */
export async function disallowUsers(removed: readonly number[], place: Place): Promise<number> {
  return await change((before) => before.filter((id) => !removed.includes(id)), place);
}

async function change(
  changed: (before: readonly number[]) => readonly number[],
  { services, io }: Place,
): Promise<number> {
  const admin = await services.configAdmin({});
  const { value } = await admin.explain(KEY);
  if (!Array.isArray(value)) throw new ConfigError(`Cannot use ${KEY}: it must be a list`);
  const before = value.filter((id) => typeof id === "number");
  const ids = changed(before);
  if (ids.length !== before.length) await admin.set(KEY, { words: [JSON.stringify(ids)], project: false });
  const names = ids.length === 0 ? "nobody" : ids.join(", ");
  io.stderr(`vis: the bot answers ${names} (${KEY} in ${visibleText(admin.path({ project: false }))})\n`);
  return 0;
}
