import { type Command } from "commander";
import { positiveInteger } from "../input/arguments.ts";
import type { Context } from "./context.ts";
import { FLAGS } from "../input/flags.ts";
import type { PromptFlags } from "../commands/prompt.ts";

/** The command that shows what is sent to a model. */
export function addPrompt(program: Command, { services, io, finish }: Context): void {
  program.command("prompt")
    .description("show what is sent to the model for a request, or was sent for a stored iteration")
    .argument("[prompt...]", "the request; what is piped in stands below it")
    .option(
      "--conversation <id>",
      "as its next request; without a request, its newest query (the beginning of its id will do)",
    )
    .option(
      "--iteration <n>",
      "this iteration of the conversation's newest query; the last one by default",
      positiveInteger,
    )
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option(...FLAGS.db)
    .option(...FLAGS.cwd)
    .option("--json", "print the messages as JSON, with bytes and an estimate of tokens", false)
    .action(async (words: string[], flags: PromptFlags) => {
      const { readPrompt } = await import("../input/read_prompt.ts");
      const { promptCommand } = await import("../commands/prompt.ts");
      const prompt = flags.conversation !== undefined && words.length === 0 ? "" : await readPrompt(words, io);
      finish(await promptCommand(prompt, { services, io, flags }));
    });
}
