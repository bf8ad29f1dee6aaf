import { type Command, InvalidArgumentError } from "commander";
import { refuseWords } from "../input/arguments.ts";
import { action } from "./action.ts";
import type { Context } from "./context.ts";
import { addServiceFlags } from "./service_flags.ts";

/** `vis telegram`: the bot and the list of its users. */
export function addTelegram(program: Command, context: Context): void {
  const load = async () => await import("../commands/telegram.ts");
  const group = program.command("telegram")
    .description("run a Telegram bot; the first line of stdout is its address")
    .option("--token-file <file>", "file with the bot's token (VIS_TELEGRAM_TOKEN; vis auth login telegram saves one)")
    .option("--delete-webhook", "delete the bot's webhook, which prevents polling");
  addServiceFlags(group)
    .addHelpText("after", EXAMPLES)
    .action(action(context, async () => (await load()).telegramCommand));
  refuseWords(group).command("allow")
    .description("allow users and groups to use the bot; a running bot applies it at once")
    .argument("<id...>", "ids that the bot sends to users it refuses; ids of groups start with -", ids)
    .action(action(context, async () => (await load()).allowUsers));
  group.command("disallow")
    .description("remove users and groups from the list")
    .argument("<id...>", "ids of users and groups", ids)
    .action(action(context, async () => (await load()).disallowUsers));
}

const EXAMPLES = `
Examples:
  vis auth login telegram          save the token from @BotFather
  vis telegram --cwd ~/project
  vis telegram allow 123456789     the bot sends refused users their id

Only users and groups in telegram.allow may use the bot. /model chooses another
model for a chat. After Ctrl-C or SIGTERM running requests may finish
(telegram.shutdownMs); interrupted ones resume at the next start.`;

function ids(text: string, before: number[] | undefined): number[] {
  const id = Number(text);
  if (!/^-?[1-9]\d{0,15}$/.test(text) || !Number.isSafeInteger(id)) {
    throw new InvalidArgumentError("It must be a number, such as 123456789 or -1001234567890");
  }
  return [...before ?? [], id];
}
