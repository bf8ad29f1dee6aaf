import { type Command, Option } from "commander";
import { collected, dollars, duration, positiveInteger } from "./_arguments.ts";
import type { Context } from "./_context.ts";
import { FLAGS } from "./_flags.ts";
import type { RunFlags } from "./run_command.ts";

/** `vis run` and `vis demo`. */
export function addRun(program: Command, { services, io, finish }: Context): void {
  const run = program.command("run")
    .description("run one query: progress on stderr, the answer alone on stdout; reads stdin too")
    .argument("[prompt...]", "what you want; what is piped in stands below it")
    .option("-c, --continue", "go on with the newest conversation of this workspace")
    .option("--conversation <id>", "go on with this conversation (the beginning of its id will do)")
    .option("--fork <id>", "go on in a new branch from ID or ID@ITERATION; the other one stays as it is");
  addLimits(run);
  run.option("--context <file>", "a text or JSON of any size that the model works on as the variable context")
    .option("--image <file>", "send an image with the request, a file or an address; may be given again", collected, [])
    .addOption(new Option("--output <format>", "what stdout gets").choices(["text", "json", "jsonl"]).default("text"))
    .option("--schema <file>", "the answer must satisfy this JSON Schema; stdout gets the JSON alone")
    .option("--trace", "everything on stderr: thinking, calls, tokens of each iteration; in JSON as trace", false)
    .option("-q, --quiet", "no progress on stderr", false)
    .option("-v, --verbose", "whole blocks and results on stderr", false)
    .option("--extension <path>", "load the extension in this folder too; may be given again", collected, [])
    .addOption(withoutExtension())
    .option(...FLAGS.db)
    .option(...FLAGS.cwd)
    .addHelpText("after", EXAMPLES)
    .action(async (words: string[], flags: RunFlags) => {
      const { readPrompt } = await import("./read_prompt.ts");
      const prompt = await readPrompt(words, io, flags);
      const { runCommand } = await import("./run_command.ts");
      finish(await runCommand(prompt, { services, io, flags }));
    });
  program.command("demo")
    .description("run the main job with scripted policies: no key, no network")
    .addOption(new Option("--resume <dir>").hideHelp())
    .action(async (flags: { resume?: string }) => {
      const { demoCommand } = await import("./demo_command.ts");
      finish(await demoCommand({ services, io, resume: flags.resume ?? null }));
    });
}

function addLimits(run: Command): void {
  run.option(...FLAGS.model)
    .option(...FLAGS.provider)
    .addOption(
      new Option("--reasoning <level>", "how hard the model thinks, in place of what it asks for itself")
        .choices(["quick", "balanced", "deep"]),
    )
    .option("--max-iterations <n>", "iterations the query may use before it asks for more", positiveInteger)
    .option("--max-cost <usd>", "end the query before it costs more US dollars, such as 0.50", dollars)
    .option("--timeout <time>", "end the query after this time, such as 90s, 10m or 1h", duration);
}

/** A flag with a value, which commander would take for the opposite of --extension. */
function withoutExtension(): Option {
  const option = new Option("--no-extension <name>", "leave this extension out; may be given again")
    .argParser(collected).default([]);
  option.negate = false;
  return option;
}

const EXAMPLES = `
Examples:
  vis run "Which files here mention TODO, and how often?"
  vis run -c "And which of them is the oldest?"
  git diff | vis run "Review this" --output json
  vis run "Which products are on it?" --image shelf.jpg --schema products.schema.json
  vis run "Tidy the imports" --max-cost 0.20 --timeout 5m --no-extension web

Exit codes: 0 answer, 1 the query failed or ran out, 2 usage, 3 configuration, 130 cancelled.
Environment: VIS_BASE_URL, VIS_API_KEY, VIS_MODEL, VIS_PROVIDER, VIS_HOME, VIS_DB, VIS_LOG, NO_COLOR, and
OTEL_EXPORTER_OTLP_ENDPOINT for traces.`;
