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
      "serve the web page, the HTTP API and an OpenAI-compatible API; stdout begins with the URL of the page (on a terminal, with the token if the server has only one)",
    )
    .option("--host <address>", "address to listen on (default: server.host, or else 127.0.0.1)")
    .option("--port <n>", "port to listen on; 0 chooses a free port (default: server.port, or else 7357)", port)
    .option(
      "--token-file <file>",
      "file with the bearer token; if the file is missing, Vis creates it with a new token",
    )
    .option(
      "--token <token>",
      "bearer token; other users can see this option in the process list, but not the variable (env: VIS_TOKEN)",
    )
    .option(
      "--tokens <file>",
      "file with a list of tokens, each with a scope and optionally an expiry and a quota (default: server.tokensFile)",
    )
    .option(
      "--check",
      "instead of starting a server, check whether the server at this host and port responds; if it does not, the exit code is 1",
    );
  serve.option(
    "--open",
    "open the page in your browser; if the server has one token, a temporary file that only you can read passes it to the page",
  );
  serve.option(
    "--qr",
    "show the address for other machines as a QR code; if the server has one token, the code contains it",
  );
  addServiceFlags(serve.option(...FLAGS.root).option(...FLAGS.addDir))
    .addHelpText("after", SERVE_EXAMPLES)
    .action(action(context, async () => (await import("../commands/serve.ts")).serveCommand));
}

const SERVE_EXAMPLES = `
Examples:
  vis serve --open                           open the page in your browser
  vis serve --port 0 --cwd ~/project         on a free port
  vis serve --host 0.0.0.0 --profile locked  for other users, locked down
  curl -H "Authorization: Bearer $(cat ~/.vis/server-token)" \\
    http://127.0.0.1:7357/api/v1

Requests to paths below /api/v1 and /v1, and to /metrics, need a token. Vis
uses the first of these that is set: --token, --token-file, VIS_TOKEN and
server.tokenFile. By default, Vis uses the file $VIS_HOME/server-token. If the
file is missing, Vis creates it with a new token. --tokens and
server.tokensFile name a list of tokens instead.
With --host 0.0.0.0, other machines need a name of this server in server.hosts:
vis config set server.hosts vis.example.org
/docs describes the API. After Ctrl-C or SIGTERM, running requests may continue
for server.shutdownMs; a second signal, except SIGHUP, stops the server at once.`;

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
      "file with the token of the bot (default: VIS_TELEGRAM_TOKEN, or else the token that vis auth login telegram saved)",
    )
    .option(
      "--delete-webhook",
      "first delete the webhook of the bot, because a bot with a webhook gets no messages by polling",
    );
  addServiceFlags(group)
    .addHelpText("after", TELEGRAM_EXAMPLES)
    .action(action(context, async () => (await load()).telegramCommand));
  refuseWords(group).command("allow")
    .description("allow users and groups to use the bot; a running bot applies the change within seconds")
    .argument(
      "<id...>",
      "ids of users and groups; the id of a group starts with -, and the bot sends refused users their id",
      ids,
    )
    .action(action(context, async () => (await load()).allowUsers));
  group.command("disallow")
    .description("stop users and groups from using the bot; a running bot applies the change within seconds")
    .argument("<id...>", "ids of users and groups; the id of a group starts with -", ids)
    .action(action(context, async () => (await load()).disallowUsers));
}

const TELEGRAM_EXAMPLES = `
Examples:
  vis auth login telegram          save the token from @BotFather
  vis telegram --cwd ~/project
  vis telegram allow 123456789     the bot sends refused users their id

Only users and groups in telegram.allow may use the bot. In the open profile,
/model chooses another model for a chat. After Ctrl-C or SIGTERM, running
requests may continue for telegram.shutdownMs. At its next start, the bot runs
interrupted requests again, up to three runs in all.`;

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
    doc:
      "serve an MCP client on stdin and stdout; the subcommands add, list, remove, login and logout manage the MCP " +
      "servers in your settings",
    examples: MCP,
    cwd: FLAGS.cwd,
  });
  addMcpServers(refuseWords(mcp), context);
  addProtocol(program, {
    ...context,
    protocol: "acp",
    doc: "serve an editor that speaks the Agent Client Protocol on stdin and stdout",
    examples: ACP,
    cwd: [
      "--cwd <dir>",
      "folder whose settings Vis checks at startup (default: current folder); the editor specifies the folder of each session",
    ],
  });
}

function addProtocol(
  program: Command,
  { services, io, finish, protocol, doc, examples, cwd }: Context & {
    readonly protocol: "mcp" | "acp";
    readonly doc: string;
    readonly examples: string;
    readonly cwd: readonly [flags: string, description: string];
  },
): Command {
  return program.command(protocol)
    .description(doc)
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option(...FLAGS.db)
    .option(...FLAGS.shell)
    .option(...FLAGS.root)
    .option(...FLAGS.addDir)
    .option(...cwd)
    .option(...FLAGS.set)
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
  sub("add", "add an MCP server to your settings: a program or an address")
    .argument("<name>", "name of the server: a letter, then at most 39 letters, digits, - and _")
    .argument(
      "<command-or-url>",
      "program (its name in PATH, or its absolute path), or the http or https address of a server",
    )
    .argument(
      "[args...]",
      "arguments of the program, after --; Vis replaces ${workspace} with the path of the workspace",
    )
    .option(
      "--env <name=value>",
      "environment variable of the program, such as 'TOKEN=${auth:github}'; repeatable",
      collected,
      [],
    )
    .option(
      "--header <name: value>",
      "header of each HTTP request to an address, such as 'Authorization: Bearer ${auth:github}'; repeatable",
      collected,
      [],
    )
    .option(
      "--read <path>",
      "absolute path that the program may read and run, in addition to the system and the workspace; repeatable",
      collected,
      [],
    )
    .option(
      "--write <path>",
      "path that the program may change, absolute or relative to the workspace; repeatable",
      collected,
      [],
    )
    .option("--network", "let the program use TCP and UDP to any address", false)
    .option("--force", "replace a server of this name", false)
    .option("--no-check", "add the server without checking whether it responds")
    .addHelpText("after", MCP_ADD)
    .action(async (name: string, command: string, args: string[], flags: NewMcpServer) => {
      finish(await (await load()).addMcpServer({ name, command, args }, { services, io, flags }));
    });
  sub(
    "list",
    "list the MCP servers in the settings, and check whether the enabled servers respond; a failed check does not change the exit code",
  )
    .option("--no-check", "list the servers without checking whether they respond")
    .action(action(context, async () => (await load()).listMcpServers));
  sub("remove", "remove an MCP server from your settings").argument("<name>", "name of the server")
    .action(action(context, async () => (await load()).removeMcpServer));
  addMcpLogins(mcp, context);
}

function addMcpLogins(mcp: Command, { services, io, finish }: Context): void {
  const run = async (words: readonly string[]): Promise<void> => {
    const { mcpLoginCommand } = await import("../commands/mcp_servers.ts");
    finish(await mcpLoginCommand(words, { services, io }));
  };
  mcp.command("login")
    .description("log in with a browser to an MCP server that has an address")
    .argument("<name>", "name of the server")
    .option(
      "--paste",
      "if the browser is on another machine, prompt for the final address or the code in the browser",
      false,
    )
    .action(async (name: string, { paste }: { readonly paste: boolean }) => {
      await run(["mcp-login", name, ...(paste ? ["--paste"] : [])]);
    });
  mcp.command("logout").description("delete the login of an MCP server").argument("<name>", "name of the server")
    .action(async (name: string) => {
      await run(["mcp-logout", name]);
    });
}

const MCP_ADD = `
Examples:
  vis mcp add files -- mcp-server-filesystem '\${workspace}'
  vis mcp add docs --network -- npx -y @acme/docs-mcp
  vis mcp add github https://api.githubcopilot.com/mcp/ \\
    --header 'Authorization: Bearer \${auth:github}'

Vis starts or calls the server once to check that it responds. Write -- before
the program if one of its arguments begins with a dash; flags of vis come before
the --. Programs run behind the command wall. For a token, write \${auth:NAME},
and save the token with vis auth login NAME.`;

const MCP = `
Configure most clients like this:
  { "mcpServers": {
      "vis": { "command": "vis", "args": ["mcp", "--cwd", "/my/project"] } } }

The client gets the tools ask, continue, search, conversations and variables.
Protocol messages go to stdout, everything else to stderr. vis mcp stops when
the client closes the connection.`;

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
        "open, or locked for servers that other people use: every wall must work, no commands run, and only extensions in extensions.allow load (default: open; env: VIS_PROFILE)",
      ).choices(["open", "locked"]),
    )
    .option("--writable", "in the locked profile, let extensions write to the workspace")
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option(...FLAGS.db)
    .option(...FLAGS.shell)
    .option("--cwd <dir>", "workspace folder of new conversations (default: current folder)")
    .option(...FLAGS.set);
}
