import {
  defineExtension,
  type DoctorCheck,
  type DoctorContext,
  type EnvironmentView,
  fn,
  someOf,
  z,
} from "@vis/extension";
import {
  type InputOptions,
  type Job,
  jobsOf,
  readJob,
  type ReadOutputOptions,
  runningIn,
  start,
  type StartOptions,
  writeJob,
} from "./jobs.ts";
import { basename } from "node:path";
import { commandOutcome, jobOutcome, run, RUN_MS, SHELL, type ShellCommand, type ShellRunOptions } from "./run.ts";

const pattern = z.string().min(1);

const settings = z.strictObject({
  enabled: z.boolean().default(true).describe(
    "Whether blocks may run commands in the workspace with shell.run and shell.start; never in the locked profile",
  ),
  allow: z.array(pattern).default([]).describe(
    "Patterns of allowed commands: each part of a command must match one of these patterns. * matches any text. An empty list refuses no command",
  ),
  deny: z.array(pattern).default([]).describe(
    "Patterns of refused commands: Vis refuses a command if one of its parts matches one of these patterns, even if the part matches allow. * matches any text",
  ).meta({ project: true }),
  network: z.boolean().default(false).describe(
    "Whether commands behind the command wall may use TCP and UDP to any address without an approval. Otherwise, a command without an approval reaches only localhost in a network of its own. If Vis cannot make such a network, as on macOS, the command reaches no address",
  )
    .meta({ programs: "network" }),
  unwalled: z.enum(["ask", "run", "off"]).default("ask").describe(
    "If the command wall is incomplete: ask (before a command without a lasting approval), run (without this " +
      "question) or off (run no command). No workspace can set it",
  ).meta({ programs: "unwalled" }),
  read: z.never({ error: "is now the setting readFolders" }).optional(),
}).prefault({});

const text = z.string().min(1);
const command = z.union([text, z.array(z.string()).min(1)]).describe("command");
const bytes = (most: number) => z.number().int().min(1).max(most).optional();
const given = {
  timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
  cwd: z.string().optional(),
  env: z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.string()).meta({ tsType: "object" }).optional(),
  stdin: z.string().optional(),
  network: z.boolean().optional(),
  write: z.array(z.string()).max(20).optional(),
  secrets: z.array(z.string()).max(20).optional(),
};
const waiting = { waitMs: z.number().int().min(0).max(600_000).optional(), until: text.optional() };
const CODE = {
  ...{ exitCode: "code", exit_code: "code", exitcode: "code", returncode: "code", returnCode: "code" },
  ...{ success: "code === 0", ok: "code === 0" },
};
const RAN = {
  ...{ ...CODE, status: "code", error: "code and stderr", output: "stdout and stderr", out: "stdout", err: "stderr" },
  ...{ timedout: "timedOut", duration: "ms", durationMs: "ms" },
};
const JOB = {
  ...{ ...CODE, status: "running and code", exited: "running", done: "running", finished: "running" },
  ...{ pid: "id", jobId: "id", error: "code and output" },
};
const STARTED = { ...JOB, stdout: "output", stderr: "output" };
const REPORT =
  "{id, command, running, code, codes?, signal, timedOut, output, missed, left, ms, notes?, changes?, hint?}";

export default defineExtension({
  namespace: "vis.shell",
  alias: { ns: "vis.ext.shell", alias: "shell" },
  doc: "Runs commands in the workspace, behind the command wall.",
  group: "workspace",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  onByDefault: true,
  howToEnable: "vis doctor shows the reason and the fix",
  config: settings,
  section: "shell",
  activate,
  prompt,
  shown: 1,
  doctor: checkShell,
  symbols: [
    fn("run", (env: EnvironmentView, asked: ShellCommand, options?: ShellRunOptions) => run(env, asked, options), {
      doc: "A list runs without a shell.",
      insteadOf: [
        ...["bash", "sh", "shell", "terminal", "run_command", "execute_command", "run_shell_command", "shell_command"],
        ...["run_terminal_cmd", "run_in_terminal", "run_bash", "exec", "execSync", "spawn", "spawnSync", "local_shell"],
        ...["child_process", "Deno.Command", "Deno.run", "os.system", "subprocess", "subprocess.run", "exec_command"],
        ...["process.env", "Deno.env", "Deno.env.get", "os.environ"],
      ],
      untimed: true,
      inPlans: true,
      room: (_command, options?: unknown) => largeOutput(options as ShellRunOptions | undefined),
      action: (_command: unknown, options?: ShellRunOptions) => ({
        ...{ doing: "running", done: "ran", things: "commands" },
        limitMs: Number(options?.timeoutMs) || RUN_MS,
        ...(typeof options?.cwd === "string" && options.cwd !== "." ? { folder: options.cwd } : {}),
      }),
      outcome: commandOutcome,
      args: z.tuple([command, z.strictObject({ ...given, maxBytes: bytes(32 << 20) }).optional()]),
      misnamed: RAN,
      returns:
        "{code, codes?, signal, stdout, stderr, ms, timedOut, truncated, changes?, hint?, whole?, notes?, obeyed?, repositories?}",
      examples: [
        'await shell.run("npm test", {timeoutMs: 300000})',
        'await shell.run(["sort", "-u"], {stdin: names.join("\\n")})',
      ],
    }),
    fn("start", (env: EnvironmentView, asked: ShellCommand, options?: StartOptions) => start(env, asked, options), {
      doc:
        "Keeps running after the call, over blocks and requests (in vis run until its request ends), for 1 h unless timeoutMs; waits for a first output.",
      unlisted: ({ onlyReads = false }: EnvironmentView) => onlyReads,
      untimed: true,
      inPlans: true,
      action: { doing: "starting", done: "started", things: "commands" },
      outcome: jobOutcome,
      args: z.tuple([
        command,
        z.strictObject({ ...given, stdin: z.union([z.string(), z.literal(true)]).optional(), ...waiting }).optional(),
      ]),
      misnamed: STARTED,
      returns: REPORT,
      examples: ['const s = await shell.start("npm run dev", {until: "ready", waitMs: 20000}); s.output'],
    }),
    fn(
      "read",
      (env: EnvironmentView, id: string, options?: ReadOutputOptions) => readJob(env, id, options),
      {
        doc: "What a started command printed since the last read, both outputs; code once it has ended.",
        untimed: true,
        action: { doing: "reading output", done: "read output", things: "times", named: 0 },
        outcome: jobOutcome,
        args: z.tuple([text.describe("id"), z.strictObject({ ...waiting, maxBytes: bytes(256 << 10) }).optional()]),
        misnamed: STARTED,
        returns: REPORT,
        examples: ['await shell.read(s.id, {until: "compiled", waitMs: 30000})'],
      },
    ),
    fn(
      "write",
      (env: EnvironmentView, id: string, input: string, options?: InputOptions) => writeJob(env, id, input, options),
      {
        doc: "Writes to a command that was started with {stdin: true}, then reads; end: true ends its input.",
        untimed: true,
        action: { doing: "writing to a command", done: "wrote to a command", things: "times", named: 0 },
        outcome: jobOutcome,
        args: z.tuple([
          text.describe("id"),
          z.string().describe("text"),
          z.strictObject({ ...waiting, maxBytes: bytes(256 << 10), end: z.boolean().optional() }).optional(),
        ]),
        misnamed: STARTED,
        returns: REPORT,
        examples: ['await shell.write(s.id, "yes\\n", {until: "done", waitMs: 30000})'],
      },
    ),
    fn("stop", (env: EnvironmentView, id: string) => jobsOf(env).stop(id), {
      doc: "Ends a started command and all that it started: SIGTERM, SIGKILL after 2 s.",
      untimed: true,
      action: { doing: "stopping", done: "stopped", things: "commands", named: 0 },
      args: z.tuple([text.describe("id")]),
      misnamed: STARTED,
      returns: REPORT,
    }),
    fn("list", (env: EnvironmentView) => jobsOf(env).all.map(({ brief }) => brief), {
      doc: "Running commands, and the last that ended.",
      untimed: true,
      reads: true,
      action: { doing: "listing commands", done: "listed commands", things: "times", named: 0 },
      args: z.tuple([]),
      misnamed: { ...JOB, output: "shell.read(id)", stdout: "shell.read(id)" },
      returns: "{id, command, running, code, ms}[]",
    }),
  ],
});

function largeOutput({ maxBytes = 0 }: ShellRunOptions = {}): number {
  return maxBytes > 1 << 20 ? maxBytes * 4 : 0;
}

const MAX_COMMAND = 80, MAX_FOLDERS = 6;

async function activate({ programWalls }: EnvironmentView): Promise<boolean> {
  return programWalls === undefined || await programWalls().then(() => true, () => false);
}

async function prompt(env: EnvironmentView): Promise<string> {
  const lost = await jobsOf(env).lost(env);
  if (lost.length > 0) {
    env.warn?.(`Background commands that ended with an earlier Vis: ${lost.map(({ command }) => command).join("; ")}`);
  }
  const listed = (jobs: readonly Job[]): string =>
    jobs.map(({ id, command }) => `${id} ${JSON.stringify(command.slice(0, MAX_COMMAND))}`).join(", ");
  const running = runningIn(env.envId);
  return [
    await wallsText(env),
    ...(running.length === 0 ? [] : [`Still running: ${listed(running)}`]),
    ...(lost.length === 0 ? [] : [`No longer running, because Vis ended: ${listed(lost)}`]),
  ].join(" ");
}

const ASKED =
  "The user is asked for each: prefer functions and code in the block; one plain command per call; $( ), redirections, assignments, sh -c and git are asked every time; a refusal is final.";

async function wallsText({ programWalls, isRootOpen, onlyReads }: EnvironmentView): Promise<string> {
  if (!programWalls) return "Commands in cwd.";
  const { network, loopback, unix, leftOut, unwalled, whole } = await programWalls();
  if (onlyReads && !whole) return "No command runs in this request: the command wall is incomplete.";
  const asked = unwalled?.mode === "ask" ? ` ${ASKED}` : "";
  if (unwalled?.some === false) return `Commands run without a wall.${asked}`;
  const missing = leftOut.length === 0 ? "" : ` Not in PATH: ${someOf(leftOut, MAX_FOLDERS)} (--add-dir).`;
  const reach = network
    ? "reach any host; write asks"
    : `${
      !loopback ? "have no network" : unix ? "reach their own localhost" : "reach their own localhost, no unix sockets"
    }; network and write ask`;
  const changed = isRootOpen ? "the repository" : "cwd";
  if (onlyReads) {
    const own = loopback ? "reach localhost only" : "have no network";
    return `Commands (${
      basename(SHELL)
    }) change $TMPDIR only, ${own}; no network, write or start in this request.${missing}`;
  }
  return `Commands (${basename(SHELL)}) change ${changed} and $TMPDIR, ${reach} the user.${missing}${asked}`;
}

function checkShell({ config, spawn, spawnInWorkspace }: DoctorContext): readonly DoctorCheck[] {
  const { enabled, network, allow, deny } = config as z.infer<typeof settings>;
  const name = "shell";
  if (!enabled) return [{ name, state: "ok", found: "off", fix: "" }];
  if (!spawn) {
    const fix = "See the line about commands; vis config set shell.enabled false turns the extension off";
    return [{ name, state: "fail", found: "on, but Vis cannot run commands", fix }];
  }
  if (!spawnInWorkspace) return []; // The line about commands has the reason.
  const rules = allow.length + deny.length > 0 ? `, rules: ${allow.length} allow, ${deny.length} deny` : "";
  return [{
    name,
    state: "ok",
    found: `on, ${network ? "network to anywhere" : "asks you for the network"}${rules}`,
    fix: "",
  }];
}
