import { type Command } from "commander";
import type { PromptFlags } from "../commands/prompt.ts";
import { positiveInteger } from "../input/arguments.ts";
import { FLAGS } from "../input/flags.ts";
import type { Context } from "./context.ts";

/** The command that shows what is sent to a model. */
export function addPrompt(program: Command, { services, io, finish }: Context): void {
  program.command("prompt")
    .description("show the prompt that a request would send to the model, or that a stored step sent")
    .argument("[prompt...]", "the request; piped input is appended")
    .option(
      "--conversation <id>",
      "as the next request of this conversation; without a request, its latest one",
    )
    .option(
      "--iteration <n>",
      "step of the conversation's latest request (default: the last one)",
      positiveInteger,
    )
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option(...FLAGS.db)
    .option(...FLAGS.cwd)
    .option("--json", "print the messages as JSON, with their size in bytes and estimated tokens", false)
    .action(async (words: string[], flags: PromptFlags) => {
      const { readPrompt } = await import("../input/read_prompt.ts");
      const { promptCommand } = await import("../commands/prompt.ts");
      const prompt = flags.conversation !== undefined && words.length === 0 ? "" : await readPrompt(words, io);
      finish(await promptCommand(prompt, { services, io, flags }));
    });
}
