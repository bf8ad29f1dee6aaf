import { type Command, InvalidArgumentError, Option } from "commander";
import type { OpenRequest } from "../../channel.ts";
import type { NewMcpServer } from "../commands/mcp_servers.ts";
import { action, collected, type CommandGroup, type Context, FLAGS, refuseWords } from "./command.ts";

export const SERVE: CommandGroup = {
  heading: "Serve:",
  parts: [
    { names: ["serve"], add: addServe },
    { names: ["telegram"], add: addTelegram },
    { names: ["mcp", "acp"], add: addProtocols },
  ],
};

function addServe(program: Command, context: Context): void {
  const serve = program.command("serve")
    .description(
      "serve the web page, the HTTP API and an OpenAI-compatible API; the first line of stdout is the URL",
    )
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--port <n>", "port to listen on; 0 chooses a free port (default: 7357)", port)
    .option(
      "--token-file <file>",
      "file with the bearer token; Vis creates it if it is missing (default: server-token in $VIS_HOME)",
    )
    .option(
      "--token <token>",
      "bearer token; visible to other users in the process list (VIS_TOKEN)",
    )
    .option("--tokens <file>", "file with several tokens and their scopes, expiry times and quotas")
    .option(
      "--check",
      "check a server instead of starting one: exit with 0 if a server responds at this host and port, else with 1",
    );
  addServiceFlags(serve.option(...FLAGS.root))
    .addHelpText("after", SERVE_EXAMPLES)
    .action(action(context, async () => (await import("../commands/serve.ts")).serveCommand));
}

const SERVE_EXAMPLES = `
Examples:
  vis serve                                  open the printed URL in a browser
  vis serve --port 0 --cwd ~/project         on a free port
  vis serve --host 0.0.0.0 --profile locked  for other users, locked down
  curl -H "Authorization: Bearer $(cat ~/.vis/server-token)" \\
    http://127.0.0.1:7357/api/v1

All calls of the API except /healthz and /readyz need the token. If you set
neither --token, --token-file nor VIS_TOKEN, Vis creates a token at the first
start and saves it in server.tokenFile, or in $VIS_HOME/server-token. /docs
describes the API.
After Ctrl-C or SIGTERM, running requests may finish (server.shutdownMs); a
second signal other than SIGHUP stops the server immediately.`;

function port(text: string): number {
  const n = Number(text);
  if (!/^\d{1,5}$/.test(text) || n > 65535) {
    throw new InvalidArgumentError("Write a whole number from 0 to 65535");
  }
  return n;
}

function addTelegram(program: Command, context: Context): void {
  const load = async () => await import("../commands/serve.ts");
  const group = program.command("telegram")
    .description("run a Telegram bot; the first line of stdout is the URL of the bot")
    .option(
      "--token-file <file>",
      "file with the bot's token (default: VIS_TELEGRAM_TOKEN, or the token that vis auth login telegram saved)",
    )
    .option("--delete-webhook", "delete the webhook of the bot first, because a webhook prevents polling");
  addServiceFlags(group)
    .addHelpText("after", TELEGRAM_EXAMPLES)
    .action(action(context, async () => (await load()).telegramCommand));
  refuseWords(group).command("allow")
    .description("allow users and groups to use the bot; a running bot applies the change within seconds")
    .argument(
      "<id...>",
      "ids of users and groups; the bot sends refused users their id. Ids of groups start with -",
      ids,
    )
    .action(action(context, async () => (await load()).allowUsers));
  group.command("disallow")
    .description("remove users and groups from the list")
    .argument("<id...>", "ids of users and groups", ids)
    .action(action(context, async () => (await load()).disallowUsers));
}

const TELEGRAM_EXAMPLES = `
Examples:
  vis auth login telegram          save the token from @BotFather
  vis telegram --cwd ~/project
  vis telegram allow 123456789     the bot sends refused users their id

Only users and groups in telegram.allow may use the bot. /model chooses another
model for a chat. After Ctrl-C or SIGTERM running requests may finish
(telegram.shutdownMs); interrupted ones resume at the next start.`;

function ids(text: string, before: number[] | undefined): number[] {
  const id = Number(text);
  if (!/^-?[1-9]\d{0,15}$/.test(text) || !Number.isSafeInteger(id)) {
    throw new InvalidArgumentError("Write a number, such as 123456789 or -1001234567890");
  }
  return [...before ?? [], id];
}

function addProtocols(program: Command, context: Context): void {
  const mcp = addProtocol(program, {
    ...context,
    protocol: "mcp",
    doc: "serve an MCP client on stdin and stdout, with the tools ask, continue, search, conversations and " +
      "variables; or manage servers that Vis uses: add, list, remove, login, logout",
    examples: MCP,
  });
  addMcpServers(refuseWords(mcp), context);
  addProtocol(program, {
    ...context,
    protocol: "acp",
    doc: "serve an editor that speaks the Agent Client Protocol on stdin and stdout",
    examples: ACP,
  });
}

function addProtocol(
  program: Command,
  { services, io, finish, protocol, doc, examples }: Context & {
    readonly protocol: "mcp" | "acp";
    readonly doc: string;
    readonly examples: string;
  },
): Command {
  return program.command(protocol)
    .description(doc)
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option(...FLAGS.db)
    .option(...FLAGS.shell)
    .option(...FLAGS.root)
    .option(...FLAGS.cwd)
    .addHelpText("after", examples)
    .action(async (flags: OpenRequest) => {
      const { speakCommand } = await import("../commands/serve.ts");
      finish(await speakCommand({ services, io, flags: { ...flags, protocol } }));
    });
}

function addMcpServers(mcp: Command, context: Context): void {
  const { services, io, finish } = context;
  const load = async () => await import("../commands/mcp_servers.ts");
  const sub = (name: string, description: string): Command =>
    mcp.command(name).description(description).option(...FLAGS.json);
  sub("add", "add a server for Vis to use: a program or an address")
    .argument("<name>", "letters, digits, - and _")
    .argument("<command-or-url>", "program in PATH or with an absolute path, or the https address of a server")
    .argument("[args...]", "arguments of the program, after --; ${workspace} is the folder that Vis works in")
    .option(
      "--env <name=value>",
      "environment variable of the program, such as 'TOKEN=${auth:github}'; repeatable",
      collected,
      [],
    )
    .option("--header <name: value>", "header of each request; repeatable", collected, [])
    .option("--read <path>", "additional absolute path that the program may read; repeatable", collected, [])
    .option("--write <path>", "path that the program may change; repeatable", collected, [])
    .option("--network", "let the program use the network", false)
    .option("--force", "replace a server of this name", false)
    .option("--no-check", "add the server without starting it")
    .addHelpText("after", MCP_ADD)
    .action(async (name: string, command: string, args: string[], flags: NewMcpServer) => {
      finish(await (await load()).addMcpServer({ name, command, args }, { services, io, flags }));
    });
  sub(
    "list",
    "list the servers that Vis uses, and check whether each responds; a failed check does not change the exit code",
  )
    .option("--no-check", "list the servers without starting them")
    .action(action(context, async () => (await load()).listMcpServers));
  sub("remove", "remove a server that Vis uses").argument("<name>")
    .action(action(context, async () => (await load()).removeMcpServer));
  addMcpLogins(mcp, context);
}

function addMcpLogins(mcp: Command, { services, io, finish }: Context): void {
  const run = async (words: readonly string[]): Promise<void> => {
    const { mcpLoginCommand } = await import("../commands/mcp_servers.ts");
    finish(await mcpLoginCommand(words, { services, io }));
  };
  mcp.command("login")
    .description("log in to a server with a browser")
    .argument("<name>")
    .option("--paste", "ask for the final address of the browser, for a browser on another machine", false)
    .action(async (name: string, { paste }: { readonly paste: boolean }) => {
      await run(["mcp-login", name, ...(paste ? ["--paste"] : [])]);
    });
  mcp.command("logout").description("delete the login of a server").argument("<name>").action(async (name: string) => {
    await run(["mcp-logout", name]);
  });
}

const MCP_ADD = `
Examples:
  vis mcp add files -- mcp-server-filesystem '\${workspace}'
  vis mcp add docs --network -- npx -y @acme/docs-mcp
  vis mcp add github https://api.githubcopilot.com/mcp/ \\
    --header 'Authorization: Bearer \${auth:github}'

Vis starts the server once, to check that it responds.
Write -- before the program if one of its arguments begins with a dash. Flags of
vis come before the --.
Programs run behind the command wall. To use a token, write
\${auth:NAME}: save it afterwards with vis auth login NAME.`;

const MCP = `
Configure most clients like this:
  { "mcpServers": {
      "vis": { "command": "vis", "args": ["mcp", "--cwd", "/path/to/it"] } } }

Protocol messages go to stdout, everything else to stderr. The server stops when
the client closes the connection. The subcommands manage servers that Vis uses.`;

const ACP = `
Add Vis to the settings of the editor, for example:
  { "agent_servers": { "Vis": { "command": "vis", "args": ["acp"] } } }

Each session of the editor is a conversation in the folder that the editor
specifies. Protocol messages go to stdout, everything else to stderr. The agent
stops when the editor closes the connection.`;

function addServiceFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--profile <name>",
        "profile: locked is for servers that other people use; it requires every wall and allows only listed extensions (VIS_PROFILE)",
      ).choices(["open", "locked"]),
    )
    .option("--writable", "let extensions write to the workspace in the locked profile")
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option(...FLAGS.db)
    .option(...FLAGS.shell)
    .option("--cwd <dir>", "workspace folder of new conversations (default: current folder)");
}
