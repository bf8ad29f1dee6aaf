import { type Command, Option } from "commander";

/** Commands that print one JSON object per line instead of a single value. */
const LINES: readonly string[] = ["logs"];

/** Gives every command that prints data both `--output json` and its short form `--json`, whichever it was defined
 * with. */
export function evenOutputs(program: Command): void {
  for (const command of program.commands) {
    evenOutputs(command);
    const json = command.options.find(({ long }) => long === "--json");
    const output = command.options.find(({ long }) => long === "--output");
    if (json && !output) addOutput(command);
    else if (output?.argChoices?.includes("json") && !json) {
      command.addOption(new Option("--json", "same as --output json").implies({ output: "json" }));
    }
  }
}

function addOutput(command: Command): void {
  const format = LINES.includes(command.name()) ? "jsonl" : "json";
  command.addOption(new Option("--output <format>", `${format} is the same as --json`).choices(["text", format]));
  command.hook("preAction", (_, acting) => {
    if (acting.opts()["output"] === format) acting.setOptionValue("json", true);
  });
}
