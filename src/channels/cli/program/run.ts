import { type Command, Option } from "commander";
import { collected, duration, parseDollars, positiveInteger } from "../input/arguments.ts";
import type { Context } from "./context.ts";
import { FLAGS } from "../input/flags.ts";
import type { RunFlags } from "../commands/run.ts";

/** `vis run` and `vis demo`. */
export function addRun(program: Command, { services, io, finish }: Context): void {
  const run = program.command("run")
    .description("ask once: the answer alone on stdout, progress on stderr; reads stdin too")
    .argument("[prompt...]", "what you want, in plain words; what is piped in stands below it")
    .option("-c, --continue", "go on with the newest conversation of this workspace")
    .option("--conversation <id>", "go on with this conversation (the beginning of its id will do)")
    .option("--fork <id>", "go on in a new branch from ID or ID@ITERATION; the other one stays as it is");
  addLimits(run);
  run.option("--context <file>", "a text or JSON file of any size, which blocks read as the variable context")
    .option("--image <file>", "send an image too, a file or an address; may be given again", collected, [])
    .addOption(
      new Option("--output <format>", "what stdout gets: the answer, all of the result, or a line for each event")
        .choices(["text", "json", "jsonl"]).default("text"),
    )
    .option("--schema <file>", "the answer must satisfy the JSON Schema in this file; stdout gets the JSON alone")
    .option(
      "--trace",
      "everything on stderr: thinking, calls, tokens of each iteration; with --output json as trace",
      false,
    )
    .option("-q, --quiet", "no progress on stderr", false)
    .option("-v, --verbose", "whole blocks and results on stderr", false)
    .option("--extension <path>", "load the extension in this folder too; may be given again", collected, [])
    .addOption(withoutExtension())
    .option(...FLAGS.db)
    .option(...FLAGS.cwd)
    .addHelpText("after", EXAMPLES)
    .action(async (words: string[], flags: RunFlags) => {
      const { readPrompt } = await import("../input/read_prompt.ts");
      const prompt = await readPrompt(words, io, flags);
      const { runCommand } = await import("../commands/run.ts");
      finish(await runCommand(prompt, { services, io, flags }));
    });
  program.command("demo")
    .description("see the main job done by scripted policies in place of a model: no key, no network")
    .addOption(new Option("--resume <dir>").hideHelp())
    .action(async (flags: { resume?: string }) => {
      const { demoCommand } = await import("../commands/demo.ts");
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
    .option(
      "--max-iterations <n>",
      "iterations (replies of the model) that it may use before it must ask for more",
      positiveInteger,
    )
    .option("--max-cost <usd>", "end the query before it costs more US dollars, such as 0.50", parseDollars)
    .option("--timeout <time>", "end the query after this time, such as 90s, 10m or 1h", duration);
}

/** A flag with a value; commander would otherwise treat it as the negation of --extension. */
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
  git diff | vis run "Review this" > review.md
  vis run "How many errors an hour?" --context server.log
  vis run "What is on it?" --image shelf.jpg --schema products.schema.json
  vis run "Tidy the imports" --max-cost 0.20 --timeout 5m
  vis run "Say hello" --model anthropic/claude-sonnet-4-5 --output json

Ctrl-C cancels; what was done is kept. Without a provider: vis auth login.
Exit codes: 0 answer, 1 failed or ran out, 2 usage, 3 settings or the database,
130 cancelled, 141 nobody reads the output.
Environment:
  VIS_MODEL, VIS_PROVIDER      what to ask where no flag says it
  VIS_BASE_URL, VIS_API_KEY    any OpenAI-compatible server, and its key
  VIS_HOME, VIS_DB             settings, keys and data (~/.vis); the database
  VIS_LOG=debug, NO_COLOR      a log on stderr; no colours
  OTEL_EXPORTER_OTLP_ENDPOINT  where traces go`;
