/** Services load their code on demand, so that `vis --version` needs no database, provider or sandbox. */
import { fileURLToPath } from "node:url";
import type { SessionParts } from "./app/session/open_session.ts";
import { PROCESS_LIMITS } from "./app/session/process_limits.ts";
import type { Settings } from "./app/settings/settings.ts";
import { DenoIo, dumbTerminal } from "./app/terminal/deno_io.ts";
import { ownVersion } from "./app/version.ts";
import type { OpenRequest, Services } from "./channels/channel.ts";
import { messageOf, UsageError } from "./domain/errors.ts";
import { isPostgres } from "./domain/kit/addresses.ts";
import type { DatabaseCopyReport, DatabaseCopyRequest } from "./domain/records/database_maintenance.ts";
import { logLevelOf } from "./domain/records/history.ts";
import { visibleText } from "./domain/kit/text.ts";

type Extensions = Omit<SessionParts, "env">;

const environment = (): Record<string, string> => Deno.env.toObject();

export async function main(args: readonly string[], extensions: Extensions): Promise<void> {
  if (args[0] === "__sandbox_child") return await sandboxChild();
  const env = environment();
  for (const [name, value] of Object.entries(proxyVariables(env))) Deno.env.set(name, value);
  const dumb = dumbTerminal(env) !== null;
  const io = new DenoIo(args, { noColor: (env["NO_COLOR"] ?? "") !== "" || dumb, dumb });
  if (env["VIS_LOG"]) {
    const { startLogging } = await import("./logging/log.ts");
    const level = logLevelOf(env["VIS_LOG"]);
    if (level === null) {
      io.stderr(
        `vis: Cannot use VIS_LOG: ${visibleText(env["VIS_LOG"])} is not a level; use debug, info, warn or error\n`,
      );
    }
    startLogging({ level: level ?? "warn", write: (line) => io.stderr(`${line}\n`) });
  }
  const { runCli } = await import("./channels/cli/cli.ts");
  const code = await runCli(services(extensions, io), io).catch((error: unknown) => defect(error, { io, env }));
  Deno.exit(io.exitCode(await written(code, io)));
}

function services(extensions: Extensions, io: DenoIo): Services {
  return {
    version: ownVersion(),
    open: async (request) => {
      const { openTraced } = await import("./app/session/open_session.ts");
      return await openTraced(request, { env: environment(), version: ownVersion().vis, ...extensions });
    },
    replayPlace: async (request) => {
      const [{ replayPlace }, { visHome }] = await Promise.all([
        import("./app/session/replay_place.ts"),
        import("./app/settings/settings.ts"),
      ]);
      return await replayPlace(request, { home: visHome(environment()) });
    },
    serve: async (request) => {
      const { serve } = await import("./app/services/serve.ts");
      return await serve(request, { env: environment(), version: ownVersion(), ...extensions });
    },
    openBrowser: async (address) => {
      const { openBrowser } = await import("./app/terminal/open_browser.ts");
      return await openBrowser(address, { env: environment() });
    },
    checkServer: async (request) => {
      const { checkServer } = await import("./app/services/check_server.ts");
      return await checkServer(request, { env: environment(), ...extensions });
    },
    speak: async (request) => {
      const { speak } = await import("./app/services/serve_stdio.ts");
      return await speak(request, { env: environment(), version: ownVersion(), ...extensions });
    },
    screen: async (request) => {
      const { screen } = await import("./app/terminal/open_screen.ts");
      return await screen(request, { env: environment(), io, ...extensions });
    },
    telegram: async (request) => {
      const { telegram } = await import("./app/services/telegram.ts");
      return await telegram(request, { env: environment(), ...extensions });
    },
    ...careServices(extensions),
    update: async (request) => {
      const [{ update }, { readSettings }, container] = await Promise.all([
        import("./app/update/update.ts"),
        import("./app/settings/settings.ts"),
        Promise.any(["/.dockerenv", "/run/.containerenv"].map((path) => Deno.stat(path))).then(() => true, () => false),
      ]);
      const { config } = await readSettings({}, environment(), extensions);
      return await update(request, { version: ownVersion(), config, program: Deno.execPath(), container });
    },
    respawn: async (args, env) => {
      await io.drained(); // The new process must not write before the output of this process is complete.
      return await respawn(args, env);
    },
  };
}

type Care = Pick<
  Services,
  | "approvalAdmin"
  | "doctor"
  | "doctorReport"
  | "providerAdmin"
  | "databaseCare"
  | "copyDatabase"
  | "extensionAdmin"
  | "configAdmin"
  | "prompts"
>;

function careServices(extensions: Extensions): Care {
  const settingsOf = async (request: OpenRequest): Promise<Settings> => {
    const { readSettings } = await import("./app/settings/settings.ts");
    return await readSettings(request, environment(), extensions);
  };
  return {
    doctor: async (request) => {
      const { doctor } = await import("./app/doctor/doctor.ts");
      return await doctor(request, { env: environment(), ...extensions });
    },
    doctorReport: async (request) => {
      const { doctorReport } = await import("./app/doctor/report.ts");
      return await doctorReport(request, { env: environment(), ...extensions });
    },
    providerAdmin: async (request) => {
      const { AppProviderAdmin } = await import("./app/providers/provider_admin.ts");
      return new AppProviderAdmin(await settingsOf(request));
    },
    databaseCare: async (request) => {
      const { SqliteMaintenance } = await import("./persistence/sqlite/maintenance.ts");
      PROCESS_LIMITS.hold();
      const { database } = await settingsOf(request);
      if (isPostgres(database)) {
        throw new UsageError(
          "Cannot maintain a PostgreSQL database: of the commands of vis db, only vis db copy supports PostgreSQL; back up " +
            "with PGOPTIONS='-c vis.tenant=*' pg_dump --enable-row-security, and check with pg_amcheck",
        );
      }
      return new SqliteMaintenance({ path: database });
    },
    copyDatabase: async (request) => {
      PROCESS_LIMITS.hold();
      return await copyDatabases(request, environment());
    },
    extensionAdmin: async (request) => {
      const { AppExtensionAdmin } = await import("./app/extensions/extension_admin.ts");
      PROCESS_LIMITS.hold();
      return new AppExtensionAdmin(await settingsOf(request), { ...extensions, env: environment() });
    },
    prompts: async (request) => {
      const [{ promptFiles }, { homedir }, { realFolder, visHome }, { AppExtensionAdmin }] = await Promise.all([
        import("./channels/tui/prompt_files.ts"),
        import("node:os"),
        import("./app/settings/settings.ts"),
        import("./app/extensions/extension_admin.ts"),
      ]);
      const home = visHome(environment()), workspace = await realFolder(request.cwd ?? Deno.cwd());
      const { prompts } = await promptFiles({ workspace, home, userHome: homedir() });
      PROCESS_LIMITS.hold();
      const admin = new AppExtensionAdmin(await settingsOf(request), { ...extensions, env: environment() });
      return [...prompts, ...await admin.requests(request.extension)];
    },
    approvalAdmin: async (request) => {
      const [{ AppApprovalAdmin }, { realFolder, visHome }] = await Promise.all([
        import("./app/session/approval_folder.ts"),
        import("./app/settings/settings.ts"),
      ]);
      const workspace = await realFolder(request.cwd ?? Deno.cwd());
      return new AppApprovalAdmin({ home: visHome(environment()), workspace });
    },
    configAdmin: async (request) => {
      const { AppConfigAdmin } = await import("./app/settings/config_admin.ts");
      const added = async () => {
        const { AppExtensionAdmin } = await import("./app/extensions/extension_admin.ts");
        return await new AppExtensionAdmin(await settingsOf(request), { ...extensions, env: environment() }).settings();
      };
      return await AppConfigAdmin.open(request, { env: environment(), ...extensions, added });
    },
  };
}

async function copyDatabases(
  request: DatabaseCopyRequest,
  env: Readonly<Record<string, string | undefined>>,
): Promise<DatabaseCopyReport> {
  const [{ copyStore }, { databaseOf }] = await Promise.all([
    import("./persistence/copy_store.ts"),
    import("./app/settings/settings.ts"),
  ]);
  const chosen = (name: "FROM" | "TO", flag: string) => {
    if (flag === "") throw new UsageError(`Cannot copy a database: ${name} is empty; name a file or a PostgreSQL URL`);
    return databaseOf({ flag, setting: null, env, home: null });
  };
  const [from, to] = [await chosen("FROM", request.from), await chosen("TO", request.to)];
  const password = from.databasePassword ?? to.databasePassword;
  return await copyStore({ ...request, from: from.database, to: to.database, password });
}

async function respawn(args: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const program = Deno.build.standalone ? Deno.execPath() : fileURLToPath(new URL("../bin/vis", import.meta.url));
  const command = new Deno.Command(program, {
    args: [...args],
    env,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  });
  return (await command.spawn().status).code;
}

async function written(code: number, io: DenoIo): Promise<number> {
  try {
    await io.drained();
    return code;
  } catch (error) {
    io.stderr(`vis: ${messageOf(error)}\n`);
    await io.drained().catch(() => {});
    return 1;
  }
}

/** The main process quotes the standard error of a sandbox process, so this function writes no stack. */
async function sandboxChild(): Promise<void> {
  const { childMain } = await import("./sandbox/child/main.ts");
  try {
    await childMain();
  } catch (error) {
    Deno.stderr.writeSync(new TextEncoder().encode(`${error instanceof Error ? error.message : error}\n`));
    Deno.exit(1);
  }
}

function defect(
  error: unknown,
  { io, env }: { readonly io: DenoIo; readonly env: Readonly<Record<string, string>> },
): number {
  const advice = env["VIS_LOG"] ? "" : "; run again with VIS_LOG=debug to see the stack";
  io.stderr(`vis: Cannot continue after the internal error "${messageOf(error)}"${advice}\n`);
  if (env["VIS_LOG"] && error instanceof Error) io.stderr(`${error.stack}\n`);
  return 1;
}

/** The runtime's `fetch` ignores ports in NO_PROXY, and uses `http_proxy` for https addresses unless HTTP_PROXY is set,
 * so Vis changes some values. */
export function proxyVariables(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const isSet = (name: string): boolean => (env[name] ?? env[name.toLowerCase()] ?? "") !== "";
  if (!PROXIES.some(isSet)) return {};
  const names = PROXIES.flatMap((name) => [name, name.toLowerCase()]);
  const logins = names.filter((name) => withPassword(env[name] ?? "") !== (env[name] ?? ""))
    .map((name) => [name, withPassword(env[name] ?? "")]);
  const small = withPassword(env["http_proxy"] ?? "");
  const ofHttp = env["HTTP_PROXY"] === undefined && small !== "" ? { HTTP_PROXY: small } : {};
  const given = env["NO_PROXY"] || env["no_proxy"] || "";
  const entries = given.split(/[\s,]+/).filter((entry) => entry !== "");
  const all = [...new Set(entries.flatMap((entry) => [entry, ...alsoMeant(entry.toLowerCase())]))].join(",");
  return {
    ...ofHttp,
    ...Object.fromEntries(logins),
    ...(all === "" || all === env["NO_PROXY"] ? {} : { NO_PROXY: all }),
  };
}

const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

function withPassword(proxy: string): string {
  return proxy.replace(/^(\w+:\/\/[^:@/]+)@/, "$1:@");
}

function alsoMeant(entry: string): readonly string[] {
  const [, bracketed, host = entry] = /^(?:\[([^\]:]*:[^\]]*:[^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(entry) ?? [];
  const plain = bracketed ?? host;
  if (plain === "*") return ["*", "0.0.0.0/0", "::/0"];
  return plain.startsWith("*.") ? [plain.slice(1)] : [plain];
}
