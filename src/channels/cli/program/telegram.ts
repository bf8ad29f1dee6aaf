import { type Command, InvalidArgumentError } from "commander";
import { addServiceFlags } from "./service_flags.ts";
import type { Context } from "./context.ts";
import type { TelegramFlags } from "../commands/telegram.ts";

/** `vis telegram`: the bot and the list of its users. */
export function addTelegram(program: Command, { services, io, finish }: Context): void {
  const command = async () => {
    const { TelegramCommand } = await import("../commands/telegram.ts");
    return new TelegramCommand({ services, io });
  };
  const group = program.command("telegram")
    .description("answer in Telegram as a bot; the first line of stdout is its address")
    .option("--token-file <file>", "file with the bot's token (VIS_TELEGRAM_TOKEN; vis auth login telegram keeps one)")
    .option("--delete-webhook", "take away a webhook that is set for the bot");
  addServiceFlags(group)
    .addHelpText("after", EXAMPLES)
    .action(async (flags: TelegramFlags) => finish(await (await command()).run(flags)));
  group.command("allow")
    .description("let users, and everybody in groups, use the bot; one that runs takes it up at once")
    .argument("<id...>", "as the bot says it to whom it refuses; ids of groups begin with -", ids)
    .action(async (added: number[]) => finish(await (await command()).allow(added)));
  group.command("disallow")
    .description("take users and groups off the list")
    .argument("<id...>", "as allow takes them", ids)
    .action(async (removed: number[]) => finish(await (await command()).disallow(removed)));
}

const EXAMPLES = `
Examples:
  vis auth login telegram          keep the token that @BotFather gave
  vis telegram --cwd ~/project
  vis telegram allow 123456789     the bot tells its id to whom it refuses

Nobody may use the bot before telegram.allow names them; who may can choose
another model for a chat with /model. Ctrl-C or SIGTERM lets running queries end
(telegram.shutdownMs); what is cut then, or by a kill, goes on at the next
start.`;

function ids(text: string, before: number[] | undefined): number[] {
  const id = Number(text);
  if (!/^-?[1-9]\d{0,15}$/.test(text) || !Number.isSafeInteger(id)) {
    throw new InvalidArgumentError("It must be a number, such as 123456789 or -1001234567890");
  }
  return [...before ?? [], id];
}
