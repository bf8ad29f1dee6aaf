import { type Command, InvalidArgumentError } from "commander";
import { action } from "./action.ts";
import type { Context } from "./context.ts";
import { addServiceFlags } from "./service_flags.ts";

/** `vis serve`: the HTTP channel. */
export function addServe(program: Command, context: Context): void {
  const serve = program.command("serve")
    .description(
      "serve the web page, the HTTP API and an OpenAI-compatible API; the first line of stdout is the URL",
    )
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--port <n>", "port to listen on, 0 for a free one (default: 7357)", port)
    .option("--token-file <file>", "file with the bearer token; created if missing")
    .option(
      "--token <token>",
      "bearer token; visible to other users in the process list (VIS_TOKEN)",
    )
    .option("--tokens <file>", "file with several tokens and their scopes, expiry times and quotas")
    .option("--check", "start nothing: exit with 0 if the server at this host and port responds, and 1 if not");
  addServiceFlags(serve)
    .addHelpText("after", EXAMPLES)
    .action(action(context, async () => (await import("../commands/serve.ts")).serveCommand));
}

const EXAMPLES = `
Examples:
  vis serve                                  open the printed URL in a browser
  vis serve --port 0 --cwd ~/project         on a free port
  vis serve --host 0.0.0.0 --profile locked  for other users, locked down
  curl -H "Authorization: Bearer $(cat ~/.vis/server-token)" \\
    http://127.0.0.1:7357/api/v1

Every request needs the token. Without --token, --token-file and VIS_TOKEN, one
is created at the first start and saved in $VIS_HOME/server-token. The API is
documented at /docs. After Ctrl-C or SIGTERM running requests may finish
(server.shutdownMs); a second signal stops at once.`;

function port(text: string): number {
  const n = Number(text);
  if (!/^\d{1,5}$/.test(text) || n > 65535) {
    throw new InvalidArgumentError("It must be a whole number from 0 to 65535");
  }
  return n;
}
