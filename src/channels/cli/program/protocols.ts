import type { Command } from "commander";
import type { OpenRequest } from "../../channel.ts";
import type { NewMcpServer } from "../commands/mcp_servers.ts";
import { collected, refuseWords } from "../input/arguments.ts";
import { FLAGS } from "../input/flags.ts";
import { action } from "./action.ts";
import type { Context } from "./context.ts";

/** `vis mcp` and `vis acp`: for programs that start Vis and speak a protocol on its stdin and stdout. */
export function addProtocols(program: Command, context: Context): void {
  const mcp = add(program, {
    ...context,
    protocol: "mcp",
    doc: "serve an MCP client on stdin and stdout, with the tools ask, continue, search, conversations and " +
      "variables; or manage servers that Vis uses: add, list, remove, login, logout",
    examples: MCP,
  });
  addMcpServers(refuseWords(mcp), context);
  add(program, {
    ...context,
    protocol: "acp",
    doc: "serve an editor that speaks the Agent Client Protocol on stdin and stdout",
    examples: ACP,
  });
}

function add(
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
    .option(...FLAGS.cwd)
    .addHelpText("after", examples)
    .action(async (flags: OpenRequest) => {
      const { speakCommand } = await import("../commands/speak.ts");
      finish(await speakCommand({ services, io, flags: { ...flags, protocol } }));
    });
}

/** Servers that Vis uses. */
function addMcpServers(mcp: Command, context: Context): void {
  const { services, io, finish } = context;
  const load = async () => await import("../commands/mcp_servers.ts");
  const sub = (name: string, description: string): Command =>
    mcp.command(name).description(description).option("--json", "print JSON", false);
  sub("add", "add a server for Vis to use: a program or an address")
    .argument("<name>", "letters, digits, - and _")
    .argument("<command-or-url>", "a program on the path or absolute, or an https address")
    .argument("[args...]", "arguments of the program, after --; ${workspace} is the folder that Vis works in")
    .option(
      "--env <name=value>",
      "a variable for the program, such as 'TOKEN=${auth:github}'; repeatable",
      collected,
      [],
    )
    .option("--header <name: value>", "a header of each request; repeatable", collected, [])
    .option("--read <path>", "an additional absolute path that the program may read; repeatable", collected, [])
    .option("--write <path>", "a path that the program may change; repeatable", collected, [])
    .option("--network", "let the program use the network", false)
    .option("--force", "replace a server of this name", false)
    .option("--no-check", "add it without starting it")
    .addHelpText("after", MCP_ADD)
    .action(async (name: string, command: string, args: string[], flags: NewMcpServer) => {
      finish(await (await load()).addMcpServer({ name, command, args }, { services, io, flags }));
    });
  sub("list", "list the servers that Vis uses, and start each to see whether it answers")
    .option("--no-check", "do not start them")
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
    .option("--paste", "prompt for the address that the browser was sent to; for a browser on another machine", false)
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

The server is started once, to see whether it answers.
Programs run in the sandbox of commands. A token can be referred to as
\${auth:NAME}: save it afterwards with vis auth login NAME.`;

const MCP = `
Most clients are configured like this:
  { "mcpServers": {
      "vis": { "command": "vis", "args": ["mcp", "--cwd", "/path/to/it"] } } }

Protocol messages go to stdout, everything else to stderr. The server stops when
the client closes the connection. The subcommands manage servers that Vis uses.`;

const ACP = `
Editors are configured in their own settings, for example:
  { "agent_servers": { "Vis": { "command": "vis", "args": ["acp"] } } }

Each session of the editor is a conversation in the folder that the editor
specifies. Protocol messages go to stdout, everything else to stderr. The agent
stops when the editor closes the connection.`;
