import { type Command, Option } from "commander";
import { action } from "./action.ts";
import type { Context } from "./context.ts";

/** The commands about providers, models and keys. */
export function addProviders(program: Command, context: Context): void {
  program.command("providers")
    .description("list the configured providers in the order in which they are used")
    .option("--check", "check whether each provider responds", false)
    .addOption(output())
    .action(action(context, async () => (await import("../commands/providers.ts")).providersCommand));
  program.command("models")
    .description("list models with context size and price, from the service if it responds")
    .option("--provider <name>", "models of this provider (default: those in use)")
    .addOption(output())
    .action(action(context, async () => (await import("../commands/models.ts")).modelsCommand));
  addAuth(program, context);
}

function addAuth(program: Command, context: Context): void {
  const auth = program.command("auth").description("manage API keys of providers: login, status, logout");
  const load = async () => await import("../commands/auth.ts");
  auth.command("login")
    .description("save a key in $VIS_HOME/auth.json, or log in with a browser (github-copilot)")
    .argument("[provider]", "provider, such as anthropic; chosen from a list if omitted")
    .option("--key-stdin", "read the key from stdin instead of prompting for it", false)
    .option("--no-check", "save the key without checking it with its provider")
    .option("--domain <domain>", "GitHub Enterprise domain, such as company.ghe.com", "github.com")
    .action(action(context, async () => (await load()).authLogin));
  auth.command("status")
    .description("show where each key was found; keys are masked")
    .addOption(output())
    .action(action(context, async () => (await load()).authStatus));
  auth.command("logout")
    .description("delete the saved key of a provider")
    .argument("<provider>", "provider name")
    .action(action(context, async () => (await load()).authLogout));
}

function output(): Option {
  return new Option("--output <format>", "output format of stdout").choices(["text", "json"]).default("text");
}
