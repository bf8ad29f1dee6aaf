import { UsageError } from "../../../domain/errors.ts";
import { nearestName } from "../../../domain/kit/names.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import type { ConfigAdmin } from "../../channel.ts";
import { interrupt, printReport } from "../output.ts";
import type { CommandInput } from "../program/command.ts";

interface McpServersFlags {
  readonly cwd?: string | undefined;
  readonly json: boolean;
}

export interface NewMcpServer extends McpServersFlags {
  readonly env: readonly string[];
  readonly header: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly network: boolean;
  readonly force: boolean;
  readonly check: boolean;
}

interface Answered {
  readonly name: string;
  readonly state: "ok" | "login" | "secret" | "failed";
  readonly found: string;
}

type Input<F = McpServersFlags> = CommandInput<F>;
type Server = Readonly<Record<string, unknown>>;

const PROGRAM_ONLY = ["env", "read", "write", "network"] as const;
const NAME = /^[A-Za-z][\w-]{0,39}$/;
const DOWNLOADS = /(?:^|\/)(?:npx|bunx|uvx|pipx|pnpx)$/;

export async function addMcpServer(
  { name, command, args }: { readonly name: string; readonly command: string; readonly args: readonly string[] },
  { services, io, flags }: Input<NewMcpServer>,
): Promise<number> {
  if (!NAME.test(name)) {
    throw new UsageError(
      `Cannot add server ${name}: its name must begin with a letter and have at most 40 letters, digits, - and _`,
    );
  }
  const { admin, key } = await settings({ services, io, flags });
  const known = await serversOf(admin, key);
  if (Object.hasOwn(known, name) && !flags.force) {
    throw new UsageError(`Cannot add server ${name}: a server with this name exists; add --force to replace it`);
  }
  const server = /^https?:\/\//.test(command) ? overHttp(command, { args, flags }) : program(command, { args, flags });
  const put = (write: boolean) =>
    admin.set(`${key}.${name}`, { words: [JSON.stringify(server)], project: false, write });
  const { value } = await put(false);
  const candidate = { key: `${key}.${name}`, value };
  const answers = flags.check ? await answersOf({ services, io }, { name, candidate }) : [];
  const [answered] = answers ?? [];
  if (answered?.state === "failed") {
    const download = DOWNLOADS.test(command) && !flags.network
      ? "--network lets the server download its program, and "
      : "";
    throw new UsageError(
      `Cannot add server ${name}: its check failed (${answered.found}); ${download}--no-check adds the server ` +
        "without a check",
    );
  }
  const done = await put(true);
  const has = answered?.state === "ok" ? ` (${answered.found})` : "";
  const report = { name, ...server, ...stateOf(answered) };
  const use = done.overruled === "" ? "Vis uses it from the next start." : `${done.overruled} overrides it.`;
  printReport(report, [`Added ${name}${has} in ${done.path}. ${use}`], { io, flags });
  if (answers === null) {
    io.stderr(
      `vis: Vis did not check ${name}, and does not use it: the extension for MCP servers is not loaded; ` +
        "vis extensions list shows why\n",
    );
  }
  if (answered && answered.state !== "ok") io.stderr(`vis: ${name} does not work yet: ${answered.found}\n`);
  if (!answered && DOWNLOADS.test(command) && !flags.network) {
    io.stderr(`vis: ${command} downloads its program: add --network, or install the server and name its program\n`);
  }
  return 0;
}

export async function listMcpServers(input: Input<McpServersFlags & { readonly check: boolean }>): Promise<number> {
  const { admin, key } = await settings(input);
  const servers = await serversOf(admin, key);
  const names = Object.keys(servers).sort();
  if (names.length === 0) {
    input.io.stderr("The settings have no MCP servers. vis mcp add NAME COMMAND-OR-URL adds one.\n");
  }
  const answers = input.flags.check && names.length > 0 ? await answersOf(input) ?? [] : [];
  const answered = (name: string) => answers.find((one) => one.name === name);
  const all = Object.fromEntries(names.map((name) => [name, { ...servers[name], ...stateOf(answered(name)) }]));
  return printReport(all, names.map((name) => lineOf(name, servers[name] ?? {}, answered(name))), input);
}

export async function removeMcpServer(name: string, input: Input): Promise<number> {
  const { admin, key } = await settings(input);
  const names = Object.keys(await serversOf(admin, key));
  if (!names.includes(name)) {
    const near = nearestName(name, names);
    const hint = near === null ? "vis mcp list shows all servers" : `did you mean ${near}?`;
    throw new UsageError(`Cannot remove server ${name}: no server has this name; ${hint}`);
  }
  const { path, changed } = await admin.unset(`${key}.${name}`, { project: false });
  const still = name in await serversOf(admin, key)
    ? (await admin.explain(key)).layers.findLast(({ value }) => name in Object(value))?.where
    : undefined;
  if (!changed) {
    throw new UsageError(
      `Cannot remove server ${name}: your own config.jsonc does not have it; remove it from ${still}`,
    );
  }
  const rest = still === undefined ? "" : `; ${still} still has it`;
  return printReport({ name, path }, [`Removed ${name} from ${path}${rest}`], input);
}

export async function mcpLoginCommand(
  words: readonly string[],
  { services, io }: Omit<Input, "flags">,
): Promise<number> {
  const admin = await services.extensionAdmin({});
  using interrupted = interrupt(io);
  const code = await admin.run(words, {
    print: (text) => io.stderr(visibleText(text)),
    ask: (question) => io.askLine(question),
    signal: interrupted.signal,
  });
  if (code === null) {
    throw new UsageError(
      "Cannot change a login: the extension for MCP servers is not loaded; vis extensions list shows why",
    );
  }
  return code;
}

async function answersOf(
  { services, io }: Pick<Input, "services" | "io">,
  one?: { readonly name: string; readonly candidate: { readonly key: string; readonly value: unknown } },
): Promise<readonly Answered[] | null> {
  const admin = await services.extensionAdmin({});
  let said = "";
  const print = (text: string): void => void (said += text);
  const words = ["mcp-check", ...one ? ["--name", one.name] : []];
  using interrupted = interrupt(io);
  const code = await admin.run(words, {
    print,
    signal: interrupted.signal,
    ...one ? { candidate: one.candidate } : {},
  });
  if (code === null) return null;
  return said.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

function stateOf(answered: Answered | undefined): Pick<Answered, "state" | "found"> | null {
  return answered ? { state: answered.state, found: answered.found } : null;
}

async function settings({ services, flags }: Input): Promise<{ readonly admin: ConfigAdmin; readonly key: string }> {
  const admin = await services.configAdmin({ cwd: flags.cwd });
  const key = admin.offered("mcpServers");
  if (key === null) {
    throw new UsageError(
      "Cannot manage MCP servers: no extension for MCP servers is loaded; vis extensions list shows why",
    );
  }
  return { admin, key };
}

async function serversOf(admin: ConfigAdmin, key: string): Promise<Readonly<Record<string, Server>>> {
  const { value } = await admin.explain(key);
  return Object(value);
}

function overHttp(
  url: string,
  { args, flags }: { readonly args: readonly string[]; readonly flags: NewMcpServer },
): Server {
  const wrong = PROGRAM_ONLY.find((flag) => flags[flag] !== false && Object(flags[flag]).length !== 0);
  if (wrong !== undefined) {
    throw new UsageError(
      `Cannot use --${wrong} with an address: only a program takes this option; leave out --${wrong}`,
    );
  }
  if (args.length > 0) {
    throw new UsageError(
      `Cannot use the argument ${args[0]}: a server with an address takes no arguments; leave out all arguments`,
    );
  }
  const headers = pairs(flags.header, { flag: "--header", by: ":", like: "'Authorization: Bearer ${auth:github}'" });
  return { url, ...(flags.header.length > 0 ? { headers } : {}) };
}

function program(
  command: string,
  { args, flags }: { readonly args: readonly string[]; readonly flags: NewMcpServer },
): Server {
  if (flags.header.length > 0) {
    throw new UsageError("Cannot use --header with a program: only an address takes this option; leave out --header");
  }
  const { read, write, network } = flags;
  const env = pairs(flags.env, { flag: "--env", by: "=", like: "'TOKEN=${auth:github}'" });
  return {
    command,
    ...(args.length > 0 ? { args } : {}),
    ...(flags.env.length > 0 ? { env } : {}),
    ...(read.length > 0 ? { read } : {}),
    ...(write.length > 0 ? { write } : {}),
    ...(network ? { network } : {}),
  };
}

function pairs(
  given: readonly string[],
  { flag, by, like }: { readonly flag: string; readonly by: string; readonly like: string },
): Readonly<Record<string, string>> {
  return Object.fromEntries(given.map((one) => {
    const at = one.indexOf(by);
    if (at > 0) return [one.slice(0, at).trim(), one.slice(at + 1).trim()];
    // The value may be a secret, so the error omits the value.
    throw new UsageError(`Cannot use a value of ${flag}: it does not have the form NAME${by}VALUE, such as ${like}`);
  }));
}

function lineOf(
  name: string,
  { url, command, args = [], network, write = [], disabled }: Server,
  answered: Answered | undefined,
): string {
  const what = url ?? [command, ...Object(args)].join(" ");
  const rights = [
    ...(network === true ? ["network"] : []),
    ...(Object(write).length > 0 ? [`writes ${Object(write).join(", ")}`] : []),
    ...(disabled === true ? ["disabled"] : []),
  ];
  const line = `${name}  ${what}${rights.length > 0 ? `  (${rights.join("; ")})` : ""}`;
  if (!answered) return line;
  return answered.state === "ok" ? `✓ ${line}  ${answered.found}` : `✗ ${line}\n    ${answered.found}`;
}
