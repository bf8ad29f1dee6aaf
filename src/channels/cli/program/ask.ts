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

function addRun(program: Command, { services, io, finish, commandNamed }: Context): void {
  const run = program.command("run")
    .description("run one request; the answer goes to stdout, and progress to stderr")
    .argument(
      "[prompt...]",
      "the request in plain words, or - for stdin; Vis appends piped input that no option reads (at most 4,000,000 characters together)",
    )
    .option("-c, --continue", "continue the latest conversation in this workspace")
    .option(
      "--conversation <id>",
      "continue this conversation or branch; a unique prefix of at least 8 characters of its id is enough",
    )
    .option(
      "--fork <id>",
      "continue in a new branch from the end of ID, or from ID@STEP, where STEP is N or REQUEST.STEP; the original branch is unchanged",
    );
  run.option(
    "--more",
    `continue the last request with ${MORE_TEXT}, if it stopped at its step limit; a lower budget.ceiling that you set reduces this number`,
    false,
  )
    .option(
      "--plan",
      'make a plan, while Vis refuses calls that could change the workspace or a service; vis run -c "go" carries the plan out',
      false,
    );
  addLimits(run);
  run.option(
    "--context <file>",
    "load a file of at most 536,870,888 characters, or - for stdin, as the variable context; Vis parses a valid .json file of at most 32 MiB",
  )
    .option(
      "--image <file>",
      "attach an image: a file of at most 5 MB, - for stdin, or an http, https or data URL (repeatable, at most 20)",
      collected,
      [],
    )
    .option(...SCHEMA);
  addOutput(run);
  run.option(
    "--extension <path>",
    "also load the extensions in this folder, without a question about trust; repeatable",
    collected,
    [],
  )
    .addOption(withoutExtension())
    .option(...FLAGS.db)
    .option(...FLAGS.shell)
    .option(...FLAGS.root)
    .option(...FLAGS.addDir)
    .option(...FLAGS.move)
    .option(...FLAGS.set)
    .addHelpText("after", EXAMPLES)
    .action(async (words: string[], flags: RunFlags) => {
      const { readPrompt, runCommand, requestOfWords } = await import("../commands/run.ts");
      if (flags.more && words.length > 0) {
        throw new UsageError("Cannot use --more with a request: they exclude each other; use only one of them");
      }
      if (flags.more) return finish(await runCommand("", { services, io, flags }));
      const typed = await readPrompt(words, io, flags);
      const { text, only } = await requestOfWords(typed, { services, flags, commandNamed });
      if (flags.plan && only === "review") {
        throw new UsageError("Cannot use --plan with /review: they exclude each other; use only one of them");
      }
      const plan = only === undefined ? flags.plan : only === "plan";
      finish(await runCommand(text, { services, io, flags: { ...flags, plan, only, typed: words.join(" ") } }));
    });
  const review = program.command("review")
    .description(
      "review changes in a repository, and list findings with file and line; Vis refuses calls that could change the workspace or a service",
    )
    .argument(
      "[target]",
      "branch or tag, for the changes since the merge base, uncommitted ones included; or a commit, or a range such as v1.0..v1.1 (default: the uncommitted changes)",
    )
    .argument(
      "[instructions...]",
      "instructions for the review, such as 'security only'; a first argument with spaces is an instruction, too",
    );
  addLimits(review);
  review.option(...SCHEMA);
  addOutput(review);
  review.option(...FLAGS.db)
    .option(...FLAGS.cwd)
    .option(...FLAGS.set)
    .addHelpText("after", REVIEWS)
    .action(async (first: string | undefined, words: readonly string[], flags: RunFlags) => {
      const { runCommand } = await import("../commands/run.ts");
      const [target, ...more] = /\s/.test(first ?? "") ? ["", first, ...words] : [first ?? "", ...words];
      const text = reviewRequest(target ?? "", more.join(" ").trim());
      finish(await runCommand(text, { services, io, flags: { ...flags, only: "review" } }));
    });
  program.command("demo")
    .description("see Vis work with scripted replies, without a key and without network")
    .addOption(new Option("--resume <dir>").hideHelp())
    .action(async (flags: { resume?: string }) => {
      const { demoCommand } = await import("../commands/demo.ts");
      finish(await demoCommand({ services, io, resume: flags.resume ?? null }));
    });
}

const SCHEMA = [
  "--schema <file>",
  "file of at most 4 MB with a JSON Schema that the answer must satisfy; with an answer, stdout is only JSON",
] as const;

function addOutput(run: Command): void {
  run.addOption(
    new Option(
      "--output <format>",
      "output format of stdout: the answer (text), the whole result (json), or one event per line (jsonl)",
    )
      .choices(["text", "json", "jsonl"]).default("text"),
  )
    .option(
      "--trace",
      "print thinking, calls and tokens of each step on stderr, unless -q is set; with --output json, the result has all steps as trace",
      false,
    )
    .option("-q, --quiet", "print no progress on stderr; errors and problems still appear there", false)
    .option("-v, --verbose", "print the code and the results of each block on stderr, unless -q is set", false);
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
      "number of steps before the model must ask for more; the first four steps without a result do not count (default: budget.iterations, which can grow)",
      positiveInteger,
    )
    .option(
      "--max-cost <usd>",
      "maximum cost in US dollars, such as 0.50; at the limit, Vis makes no further model call. With a limit, Vis refuses models without a known price (default: budget.costUsd)",
      parseDollars,
    )
    .option(
      "--timeout <time>",
      "time limit of the request, such as 90s, 10m or 1h; a number alone means seconds (default: budget.wallMs)",
      duration,
    );
}

/** Commander would treat the flag as the negation of --extension. */
function withoutExtension(): Option {
  const option = new Option(
    "--no-extension <name>",
    "do not load the extension with this namespace, or this shipped extension; repeatable",
  )
    .argParser(collected).default([]);
  option.negate = false;
  return option;
}

const REVIEWS = `
Examples:
  vis review                 the uncommitted changes
  vis review main            all changes since the merge base with main
  vis review HEAD~1          one commit
  vis review main "security only"
  vis review main --json | jq .value.findings
  vis review main --schema findings.schema.json > findings.json
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
  vis run "Update the packages" --set shell.network=true
  vis run "Say hello" --model anthropic/claude-sonnet-5 --output json

Ctrl-C cancels; Vis keeps completed steps. To set up a provider: vis auth login.
Exit codes: 0 answer, 1 failed or limit reached, 2 usage, 3 settings or
database, 130 cancelled, 141 output closed by its reader.
Environment:
  VIS_MODEL, VIS_PROVIDER      default model; the only provider to use
  VIS_BASE_URL, VIS_API_KEY    address of a server, and its key
  VIS_HOME, VIS_DB             folder of settings, keys and data; the database
  VIS_LOG=debug, NO_COLOR      log to stderr; disable colours
  OTEL_EXPORTER_OTLP_ENDPOINT  endpoint for traces
  vis help --man               describes more variables`;
