import { type Command, Option } from "commander";
import { UsageError } from "../../../domain/errors.ts";
import { MORE_TEXT } from "../../../domain/query/outcomes.ts";
import { reviewRequest } from "../../../domain/query/stored_query.ts";
import type { RunFlags } from "../commands/run.ts";
import {
  collected,
  type CommandGroup,
  type Context,
  duration,
  FLAGS,
  parseDollars,
  positiveInteger,
} from "./command.ts";

export const ASK: CommandGroup = {
  heading: "Ask:",
  parts: [
    { names: ["run", "review", "demo"], add: addRun },
  ],
};

function addRun(program: Command, { services, io, finish }: Context): void {
  const run = program.command("run")
    .description("run one request: the answer goes to stdout, progress to stderr; reads piped input")
    .argument("[prompt...]", "the request in plain words; piped input is appended")
    .option("-c, --continue", "continue the latest conversation in this workspace")
    .option("--conversation <id>", "continue this conversation; a unique prefix of 8 characters is enough")
    .option("--fork <id>", "continue in a new branch from ID or ID@STEP; the original is unchanged");
  run.option("--more", `continue the last request, which stopped at its step limit: ${MORE_TEXT}`, false)
    .option("--plan", 'only read, and answer with a plan; -c "go" carries it out', false);
  addLimits(run);
  run.option("--context <file>", "load a text or JSON file of any size as the variable context")
    .option("--image <file>", "attach an image, a file or a URL; repeatable", collected, [])
    .option("--schema <file>", "JSON Schema file that the answer must satisfy; stdout is only JSON");
  addOutput(run);
  run.option("--extension <path>", "also load the extension in this folder; repeatable", collected, [])
    .addOption(withoutExtension())
    .option(...FLAGS.db)
    .option(...FLAGS.shell)
    .option(...FLAGS.root)
    .option(...FLAGS.cwd)
    .addHelpText("after", EXAMPLES)
    .action(async (words: string[], flags: RunFlags) => {
      const { readPrompt, runCommand } = await import("../commands/run.ts");
      if (flags.more && words.length > 0) {
        throw new UsageError("Cannot use --more with a request: they exclude each other; use only one of them");
      }
      finish(await runCommand(flags.more ? "" : await readPrompt(words, io, flags), { services, io, flags }));
    });
  const review = program.command("review")
    .description("review changes in a repository: only reads, and lists findings with file and line")
    .argument("[target]", "branch to compare with, or a commit (default: the uncommitted changes)");
  addLimits(review);
  addOutput(review);
  review.option(...FLAGS.db)
    .option(...FLAGS.cwd)
    .addHelpText("after", REVIEWS)
    .action(async (target: string | undefined, flags: RunFlags) => {
      const { runCommand } = await import("../commands/run.ts");
      finish(await runCommand(reviewRequest(target ?? ""), { services, io, flags: { ...flags, only: "review" } }));
    });
  program.command("demo")
    .description("see Vis work with scripted replies; needs no key and no network")
    .addOption(new Option("--resume <dir>").hideHelp())
    .action(async (flags: { resume?: string }) => {
      const { demoCommand } = await import("../commands/demo.ts");
      finish(await demoCommand({ services, io, resume: flags.resume ?? null }));
    });
}

function addOutput(run: Command): void {
  run.addOption(
    new Option("--output <format>", "output format of stdout: the answer, the whole result, or one event per line")
      .choices(["text", "json", "jsonl"]).default("text"),
  )
    .option(
      "--trace",
      "print thinking, calls and tokens of each step on stderr; with --output json, add all steps as trace",
      false,
    )
    .option("-q, --quiet", "print no progress on stderr", false)
    .option("-v, --verbose", "print full code and results on stderr", false);
}

function addLimits(run: Command): void {
  run.option(...FLAGS.model)
    .option(...FLAGS.provider)
    .addOption(
      new Option("--reasoning <level>", "reasoning effort; overrides the model's own choice")
        .choices(["quick", "balanced", "deep"]),
    )
    .option(
      "--max-iterations <n>",
      "steps (model replies) before the model must ask for more (default: budget.iterations)",
      positiveInteger,
    )
    .option(
      "--max-cost <usd>",
      "call no model again once the request has cost this many US dollars, such as 0.50 (default: budget.costUsd)",
      parseDollars,
    )
    .option("--timeout <time>", "stop after this time, such as 90s, 10m or 1h (default: budget.wallMs)", duration);
}

/** Sets `negate` to false, because commander would otherwise treat the flag as the negation of --extension. */
function withoutExtension(): Option {
  const option = new Option("--no-extension <name>", "do not load this extension; repeatable")
    .argParser(collected).default([]);
  option.negate = false;
  return option;
}

const REVIEWS = `
Examples:
  vis review                 the uncommitted changes
  vis review main            all changes since this branch left main
  vis review HEAD~1          one commit
  vis review main -q > review.md`;

const EXAMPLES = `
Examples:
  vis run "Which files here mention TODO, and how often?"
  vis run -c "And which of them is the oldest?"
  git diff | vis run "Review this" > review.md
  vis run "How many errors an hour?" --context server.log
  vis run "What is on it?" --image shelf.jpg --schema products.schema.json
  vis run "Tidy the imports" --max-cost 0.20 --timeout 5m
  vis run --plan "Split this module", then: vis run -c "go"
  vis run "Say hello" --model anthropic/claude-sonnet-5 --output json

Ctrl-C cancels; completed steps are kept. To set up a provider: vis auth login.
Exit codes: 0 answer, 1 failed or limit reached, 2 usage, 3 settings or
database, 130 cancelled, 141 output closed by its reader.
Environment:
  VIS_MODEL, VIS_PROVIDER      default model and provider
  VIS_BASE_URL, VIS_API_KEY    any OpenAI-compatible server, and its key
  VIS_HOME, VIS_DB             settings, keys and data (~/.vis); the database
  VIS_LOG=debug, NO_COLOR      log to stderr; disable colours
  OTEL_EXPORTER_OTLP_ENDPOINT  endpoint for traces
  vis help --man               describes more variables`;
