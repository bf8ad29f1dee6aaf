import { basename, dirname, join } from "node:path";
import { ROOT } from "../../scripts/_project.ts";
import { until } from "./until.ts";

export interface Postgres {
  readonly folder: string;
  createDatabase(): Promise<string>;
  sql(text: string, url?: string): Promise<string>;
  /** The mode "fast" closes connections first; "immediate" has the effect of a crash. */
  stop(mode: "fast" | "immediate"): Promise<void>;
  start(): Promise<void>;
}

export interface PostgresOptions {
  readonly settings?: readonly string[];
  /** These lines replace pg_hba.conf, which decides who may connect. */
  readonly access?: readonly string[];
  readonly port?: number;
}

export const postgresFolder: string = binaries() ?? "";

export const noPostgres: string = postgresFolder === ""
  ? "PostgreSQL 15 or newer is not installed (apt-get install postgresql)"
  : "";

export type PostgresTest = (
  name: string,
  fn: (postgres: Postgres) => Promise<void>,
  sanitizers?: Pick<Deno.TestDefinition, "sanitizeOps" | "sanitizeResources">,
) => void;

let usual: Promise<Postgres> | null = null;

/** Files of one isolate without options share this server. */
export async function usualPostgres(): Promise<Postgres | null> {
  return noPostgres === "" ? await (usual ??= startPostgres()) : null;
}

/** With options, the tests of the file get a server of their own. */
export async function postgresTests(options?: PostgresOptions): Promise<PostgresTest> {
  const postgres = options && noPostgres === "" ? await startPostgres(options) : await usualPostgres();
  return (name, fn, sanitizers = {}) =>
    Deno.test({
      ...sanitizers,
      name: `${name}${noPostgres && `: ${noPostgres}`}`,
      ignore: postgres === null,
      fn: async () => {
        if (postgres !== null) await fn(postgres);
      },
    });
}

const SOCKET_PORT = 5432;
const NOBODY = 65534;
const ADMIN = "admin";
const HOUSE = ["fsync = off", "synchronous_commit = off", "full_page_writes = off", "max_connections = 200"];

/** A file calls this function at its top level, outside of tests, because the server ends with the isolate. */
export async function startPostgres({ settings = [], access = [], port }: PostgresOptions = {}): Promise<Postgres> {
  const folder = await Deno.makeTempDir({ prefix: "vis-pg-" });
  const data = join(folder, "data");
  if (Deno.uid() === 0) await Deno.chown(folder, NOBODY, NOBODY);
  await copy(await emptyCluster(), data);
  await Deno.writeTextFile(
    join(data, "postgresql.conf"),
    [
      `unix_socket_directories = '${folder}'`,
      `listen_addresses = '${port === undefined ? "" : "127.0.0.1"}'`,
      `port = ${port ?? SOCKET_PORT}`,
      ...HOUSE,
      ...settings,
      "",
    ].join("\n"),
    { append: true },
  );
  if (access.length > 0) await Deno.writeTextFile(join(data, "pg_hba.conf"), `${access.join("\n")}\n`);
  const running: { child: Deno.ChildProcess | null } = { child: null };
  const socket = `host=${encodeURIComponent(folder)}${port === undefined ? "" : `&port=${port}`}`;
  const url = (name: string) => `postgres://vis@/${name}?${socket}`;
  const sql = (text: string, to: string = url("postgres")) =>
    run("psql", [to.replace("://vis@", `://${ADMIN}@`), "-XAtqc", text]);
  const start = async (): Promise<void> => {
    const child = running.child = spawn(data);
    await until(() => isReady(data, child.pid), () => "PostgreSQL is not ready");
  };
  await start();
  await sql("CREATE ROLE vis LOGIN");
  addEventListener("unload", () => {
    if (running.child !== null) running.child.kill("SIGQUIT");
    Deno.removeSync(folder, { recursive: true });
  });
  return {
    folder,
    start,
    sql,
    createDatabase: async () => {
      const name = `vis_${crypto.randomUUID().slice(0, 8)}`;
      await sql(`CREATE DATABASE ${name} OWNER vis STRATEGY file_copy`);
      return url(name);
    },
    stop: async (mode) => {
      const { child } = running;
      running.child = null;
      child?.ref();
      child?.kill(mode === "fast" ? "SIGINT" : "SIGQUIT");
      await child?.status;
    },
  };
}

/** A copy takes a fifth of the time of `initdb`, so all tests of a checkout copy the same empty cluster. */
async function emptyCluster(): Promise<string> {
  const made = join(ROOT, "build/postgres", basename(dirname(postgresFolder)));
  await Deno.mkdir(dirname(made), { recursive: true });
  using lock = await Deno.open(`${made}.lock`, { create: true, write: true });
  await lock.lock(true);
  if (await Deno.stat(made).then(() => true, () => false)) return made;
  const folder = await Deno.makeTempDir({ prefix: "vis-pg-" });
  try {
    if (Deno.uid() === 0) await Deno.chown(folder, NOBODY, NOBODY);
    const data = join(folder, "data");
    await run("initdb", ["-D", data, "-A", "trust", "-U", ADMIN, "-E", "UTF8", "--locale=C", "--no-sync"]);
    await Deno.remove(`${made}.new`, { recursive: true }).catch(() => {});
    await copy(data, `${made}.new`);
    await Deno.rename(`${made}.new`, made);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  return made;
}

async function copy(from: string, to: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("cp", { args: ["-a", from, to] }).output();
  if (!success) throw new Error(`cp failed: ${new TextDecoder().decode(stderr)}`);
}

async function isReady(data: string, pid: number): Promise<boolean> {
  const lines = (await Deno.readTextFile(join(data, "postmaster.pid")).catch(() => "")).split("\n");
  return lines[0] === `${pid}` && lines[7]?.trim() === "ready";
}

function spawn(data: string): Deno.ChildProcess {
  // A pipe without a reader would stop the server once it is full.
  const child = command("postgres", ["-D", data], { user: ["--pdeathsig", "QUIT"], output: "null" }).spawn();
  child.unref();
  return child;
}

async function run(program: string, args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await command(program, args).output();
  if (!success) throw new Error(`${program} failed: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).trim();
}

/** PostgreSQL refuses to run as root. */
function command(
  program: string,
  args: readonly string[],
  { user = [], output = "piped" }: { readonly user?: readonly string[]; readonly output?: "piped" | "null" } = {},
): Deno.Command {
  const path = join(postgresFolder, program);
  const options = { stdin: "null", stdout: output, stderr: output } as const;
  if (Deno.uid() !== 0) return new Deno.Command(path, { args: [...args], ...options });
  const ordinary = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", ...user];
  return new Deno.Command("setpriv", { args: [...ordinary, path, ...args], ...options });
}

/** Debian's packages install each version in a folder of its own below `root`. */
function binaries(): string | null {
  const root = "/usr/lib/postgresql";
  try {
    const versions = [...Deno.readDirSync(root)].map(({ name }) => Number(name)).filter((version) => version >= 15);
    return versions.length === 0 ? null : join(root, String(Math.max(...versions)), "bin");
  } catch {
    return null;
  }
}
