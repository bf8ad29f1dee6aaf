import type { Command } from "commander";
import type { OpenRequest } from "../../channel.ts";
import type { Context } from "./context.ts";
import { FLAGS } from "../input/flags.ts";

/** `vis mcp` and `vis acp`: for programs that start Vis and speak a protocol on its stdin and stdout. */
export function addProtocols(program: Command, context: Context): void {
  add(program, {
    ...context,
    protocol: "mcp",
    doc: "serve this agent to an MCP client on stdin and stdout: ask, continue, search, variables",
    examples: MCP,
  });
  add(program, {
    ...context,
    protocol: "acp",
    doc: "serve this agent to an editor that speaks the Agent Client Protocol, on stdin and stdout",
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
Clients are told of it in their own settings, most of them in this form:
  { "mcpServers": {
      "vis": { "command": "vis", "args": ["mcp", "--cwd", "/path/to/it"] } } }

Messages go to stdout, everything else to stderr. It ends when the client closes
its end.`;

const ACP = `
Editors are told of it in their own settings, such as:
  { "agent_servers": { "Vis": { "command": "vis", "args": ["acp"] } } }

Each session of the editor is a conversation in the folder that the editor
names. Messages go to stdout, everything else to stderr. It ends when the editor
closes its end.`;
