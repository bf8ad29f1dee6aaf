import { type Command, InvalidArgumentError } from "commander";
import type { ServeRequest } from "../../channel.ts";
import { addServiceFlags } from "./service_flags.ts";
import type { Context } from "./context.ts";

/** `vis serve`: the HTTP channel. */
export function addServe(program: Command, { services, io, finish }: Context): void {
  const serve = program.command("serve")
    .description(
      "serve the HTTP API, the agent as a model for OpenAI's clients, and a page; the first line of stdout is the URL",
    )
    .option("--host <address>", "address to listen on (127.0.0.1)")
    .option("--port <n>", "port to listen on, 0 for one that is free (7357)", port)
    .option("--token-file <file>", "file with the bearer token; it is made where it does not exist")
    .option(
      "--token <token>",
      "the bearer token; others on this machine can see it in the list of processes (VIS_TOKEN)",
    )
    .option("--tokens <file>", "file with a list of tokens, their scopes, ends and quotas, in place of the one");
  addServiceFlags(serve)
    .addHelpText("after", EXAMPLES)
    .action(async (flags: ServeRequest) => {
      const { serveCommand } = await import("../commands/serve.ts");
      finish(await serveCommand({ services, io, flags }));
    });
}

const EXAMPLES = `
Examples:
  vis serve                                  the page: open the URL it prints
  vis serve --port 0 --cwd ~/project         on a port that is free
  vis serve --host 0.0.0.0 --profile locked  for others: all walls, no commands
  curl -H "Authorization: Bearer $(cat ~/.vis/server-token)" \\
    http://127.0.0.1:7357/api/v1

Every request needs the token. Without --token, --token-file and VIS_TOKEN it is
made at the first start and kept in $VIS_HOME/server-token. The API is described
at /docs. Ctrl-C or SIGTERM lets running queries end (server.shutdownMs), a
second one does not.`;

function port(text: string): number {
  const n = Number(text);
  if (!/^\d{1,5}$/.test(text) || n > 65535) throw new InvalidArgumentError("It must be a whole number from 0 to 65535");
  return n;
}
