import type { Command } from "commander";
import type { OpenRequest } from "../../channel.ts";
import type { Context } from "./context.ts";
import { FLAGS } from "../input/flags.ts";

/** `vis mcp` and `vis acp`: for programs that start Vis and speak a protocol on its stdin and stdout. */
export function addProtocols(program: Command, context: Context): void {
  add(program, {
    ...context,
    protocol: "mcp",
    doc: "serve an MCP client on stdin and stdout; tools: ask, continue, search, conversations, variables",
    examples: MCP,
  });
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
): void {
  program.command(protocol)
    .description(doc)
    .option(...FLAGS.model)
    .option(...FLAGS.provider)
    .option(...FLAGS.db)
    .option(...FLAGS.cwd)
    .addHelpText("after", examples)
    .action(async (flags: OpenRequest) => {
      const { speakCommand } = await import("../commands/speak.ts");
      finish(await speakCommand({ services, io, flags: { ...flags, protocol } }));
    });
}

const MCP = `
Most clients are configured like this:
  { "mcpServers": {
      "vis": { "command": "vis", "args": ["mcp", "--cwd", "/path/to/it"] } } }

Protocol messages go to stdout, everything else to stderr. The server stops when
the client closes the connection.`;

const ACP = `
Editors are configured in their own settings, for example:
  { "agent_servers": { "Vis": { "command": "vis", "args": ["acp"] } } }

Each session of the editor is a conversation in the folder that the editor
specifies. Protocol messages go to stdout, everything else to stderr. The agent
stops when the editor closes the connection.`;
