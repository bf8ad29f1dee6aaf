import { type Command, Option } from "commander";
import type { Context } from "./context.ts";

type Output = "text" | "json";

/** The commands about providers, models and keys. */
export function addProviders(program: Command, { services, io, finish }: Context): void {
  program.command("providers")
    .description("show the providers that are configured, in the order in which they serve")
    .option("--check", "ask each of them whether it answers", false)
    .addOption(output())
    .action(async (flags: { check: boolean; output: Output }) => {
      const { providersCommand } = await import("../commands/providers.ts");
      finish(await providersCommand({ services, io, flags }));
    });
  program.command("models")
    .description("list models with context and price: from the service where it answers, else from data")
    .option("--provider <name>", "of this provider; by default those that serve a query")
    .addOption(output())
    .action(async (flags: { provider?: string; output: Output }) => {
      const { modelsCommand } = await import("../commands/models.ts");
      finish(await modelsCommand({ services, io, flags }));
    });
  addAuth(program, { services, io, finish });
}

function addAuth(program: Command, { services, io, finish }: Context): void {
  const auth = program.command("auth").description("keep the keys of providers: login, status, logout");
  const command = async () => {
    const { AuthCommand } = await import("../commands/auth.ts");
    return new AuthCommand({ services, io });
  };
  auth.command("login")
    .description("keep a key in $VIS_HOME/auth.json, or log in on a page (github-copilot)")
    .argument("[provider]", "its name, such as anthropic; asked for on a terminal")
    .option("--key-stdin", "read the key from stdin instead of asking for it", false)
    .option("--domain <domain>", "GitHub of an enterprise, such as company.ghe.com", "github.com")
    .action(async (provider: string | undefined, flags: { keyStdin: boolean; domain: string }) => {
      finish(await (await command()).login(provider, flags));
    });
  auth.command("status")
    .description("show where each key comes from; keys are masked")
    .addOption(output())
    .action(async (flags: { output: Output }) => finish(await (await command()).status(flags)));
  auth.command("logout")
    .description("forget the key that was kept for a provider")
    .argument("<provider>", "its name")
    .action(async (provider: string) => finish(await (await command()).logout(provider)));
}

function output(): Option {
  return new Option("--output <format>", "what stdout gets").choices(["text", "json"]).default("text");
}
