import { join } from "node:path";
import mcp from "../../../extensions/mcp/mod.ts";
import assert from "node:assert/strict";
import { ROOT } from "../../../scripts/_project.ts";
import type { Approval, ApprovalRequest } from "../../../src/domain/query/approval.ts";
import { ConversationPrograms } from "../../../src/environment/environment_for_extensions.ts";
import type { ActiveExtensions } from "../../../src/extension/active_extensions.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";
import { LinuxWall } from "../../../src/processes/linux/linux_wall.ts";
import { type LogEntry, recordingLog, VIEW } from "../../extension/_sample.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { memoryOwnStore } from "./_memory_own_store.ts";

/** The reason why no program can run here; empty if it can. */
export const missing = Deno.build.os === "linux" ? "" : "needs Linux";

export interface Place {
  readonly workspace: string;
  readonly home: string;
  readonly log: readonly LogEntry[];
  readonly env: EnvironmentView;
  readonly spawn: NonNullable<EnvironmentView["spawn"]>;
  readonly settings: unknown;
  /** The requests for approval, and the answer to them. While `answer` is null, no user can be asked. */
  readonly approvals: { readonly asked: ApprovalRequest[]; answer: Approval | null };
  begin(): Promise<ActiveExtensions>;
  /** Calls a function in the newest query. The first call begins one. */
  call(name: string, args?: readonly unknown[], signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

/** Opens a conversation with these servers, behind the wall of the program. */
export async function withServers(
  servers: Readonly<Record<string, object>>,
  run: (place: Place) => Promise<void>,
  { variables = {}, more = {} }: PlaceOptions = {},
): Promise<void> {
  await withFolder((root) => withServersIn(root, { settings: { servers, variables }, more }, run));
}

interface PlaceOptions {
  readonly variables?: Readonly<Record<string, string>>;
  readonly more?: Partial<EnvironmentView>;
}

async function withServersIn(
  root: string,
  { settings, more }: { readonly settings: object; readonly more: Partial<EnvironmentView> },
  run: (place: Place) => Promise<void>,
): Promise<void> {
  const at = (name: string): string => join(root, name);
  for (const name of ["workspace", "user/.vis", "temporary"]) await Deno.mkdir(at(name), { recursive: true });
  const wall = new LinuxWall({
    home: at("user"),
    visHome: at("user/.vis"),
    read: [Deno.execPath()],
    network: false,
    env: { PATH: "/usr/bin:/bin" },
    temporary: at("temporary"),
  });
  const { log, entries } = recordingLog();
  const home = at("user/.vis");
  const registry = new ExtensionRegistry({ log, home, config: { "vis.mcp": settings } });
  registry.register(mcp);
  const programs = new ConversationPrograms();
  const approvals: Place["approvals"] = { asked: [], answer: null };
  const approve = (request: ApprovalRequest): Promise<Approval> => {
    approvals.asked.push(request);
    return Promise.resolve(approvals.answer ?? assert.fail("asked"));
  };
  const store = memoryOwnStore();
  const spawnIn = (signal: AbortSignal): Place["spawn"] =>
    programs.bind((workspace, argv, options) => wall.spawn(workspace, argv, options), {
      workspace: at("workspace"),
      signal,
    });
  const env = {
    ...VIEW,
    ...{ envId: crypto.randomUUID(), workspace: at("workspace"), closed: programs.closed, store },
    spawn: spawnIn(programs.closed),
    ...more,
  };
  let active: ActiveExtensions | null = null;
  const begin = async (): Promise<ActiveExtensions> => active = await registry.activate(env);
  try {
    await run({
      workspace: at("workspace"),
      home,
      env,
      spawn: spawnIn(programs.closed),
      settings: registry.configOf("vis.mcp"),
      log: entries,
      begin,
      approvals,
      call: async (name, args = [], signal = new AbortController().signal) => {
        return await (active ?? await begin()).call(name, args, {
          env: { ...env, spawn: spawnIn(signal), ...(approvals.answer ? { approve } : {}) },
          signal,
        });
      },
      close: () => programs.close(),
    });
  } finally {
    await programs.close();
  }
}

/** Describes a server of a file below `servers/`. Deno runs it behind the wall, where it sees no other file. */
export function denoServer(file: string, ...args: readonly string[]): object {
  return {
    command: Deno.execPath(),
    args: ["run", "-A", "--quiet", "--no-config", "--no-lock", "--no-prompt", file, ...args],
    env: { DENO_NO_UPDATE_CHECK: "1" },
    read: [file],
  };
}

export const ownServer = (name: string): string => join(ROOT, "tests/extensions/mcp/servers", name);

const bundles = new Map<string, Promise<string>>();

/** Returns a server of a package as one file, so that it needs no registry behind the wall. */
export function bundled(name: string): Promise<string> {
  const made = bundles.get(name) ?? bundle(name);
  bundles.set(name, made);
  return made;
}

async function bundle(name: string): Promise<string> {
  const output = join(ROOT, "build/mcp_servers", `${name}.js`);
  const fresh = `${output}.${crypto.randomUUID()}`;
  await Deno.mkdir(join(ROOT, "build/mcp_servers"), { recursive: true });
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "-o", fresh, ownServer(`${name}.ts`)],
    cwd: ROOT,
    stdin: "null",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  await Deno.rename(fresh, output);
  return output;
}
