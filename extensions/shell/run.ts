import {
  advised,
  type CallOutcome,
  commandFacts,
  commandText,
  type EnvironmentView,
  type FileChanges,
  isSecretFile,
  isWithin,
  matchesWildcard,
  messageOf,
  plainScopes,
  shorten,
} from "@vis/extension";
import { missingProgramHint } from "./missing_program.ts";
import { PartCodes, SIGPIPE } from "./pipeline_codes.ts";
import { discardedFiles, missedRemovals } from "./without_effect.ts";
import { existsSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";

export const RUN_MS = 120_000;

export interface ShellRunOptions extends CommandOptions {
  readonly maxBytes?: number;
}

export async function run(
  env: EnvironmentView,
  command: ShellCommand,
  options: ShellRunOptions = {},
): Promise<unknown> {
  const { showOutput } = env;
  const { spawn, all } = await allowed(env, command, options);
  const { result: { notes, ...result }, changes } = await watched(
    env,
    () =>
      spawn({
        ...spawnOptions({ timeoutMs: RUN_MS, ...options }),
        guessEncoding: true,
        ...showOutput ? { onOutput: (_output, bytes) => showOutput(bytes) } : {},
      }),
    { all },
  );
  const output = `${result.stderr}\n${result.stdout}`;
  const { code, codes = [code] } = result,
    { network = false, write = [] } = options,
    { loopback } = await env.programWalls?.() ?? {};
  const wall = wallHint(env, output, {
    network,
    loopback,
    line: lineOf(command),
    cwd: options.cwd ?? "",
    codes,
    all,
    isWider: write.length > 0,
  });
  const missing = result.code === 0 ? null : await missingProgramHint(env, output);
  if (result.code !== 0) await nameOption(env, wall);
  const whole = await keptOutput(env, result);
  return withCommandHint({
    ...result,
    ...(changes === null ? {} : { changes }),
    ...(whole === null ? {} : { whole }),
    ...(notes.length > 0 ? { notes } : {}),
  }, { missing, wall });
}

/** A quiet question does not ask the user, but the channel can name the option. */
async function nameOption({ approve }: EnvironmentView, wall: WallHint | null): Promise<void> {
  if (wall?.option === undefined) return;
  await approve?.({ what: "", why: "", scope: "", option: wall.option }, { isQuiet: true });
}

const KEPT = "failedOutput";
const LONG = { lines: 8, chars: 1_000 }, MAX_KEPT = 256 * 1024;

async function keptOutput({ bindVar }: EnvironmentView, result: CommandEnd): Promise<string | null> {
  if (commandOutcome(result).ok !== false) return null;
  const text = [result.stdout, result.stderr].filter((one) => one !== "").join("\n");
  if (text.length <= LONG.chars && text.split("\n").length <= LONG.lines) return null;
  const left = text.length - MAX_KEPT;
  const kept = left > 0 ? `[the first ${left} characters are left out]\n${text.slice(left)}`.toWellFormed() : text;
  try {
    await bindVar?.(KEPT, kept);
    return bindVar ? KEPT : null;
  } catch {
    return null; // The block may use this name for something else.
  }
}

/** If `run` rejects, Vis still records the changes for undo. */
export async function watched<Result>(
  env: EnvironmentView,
  run: () => Promise<Result>,
  { all, isBackground = false }: Pick<Allowed, "all"> & { readonly isBackground?: boolean },
): Promise<{ readonly result: Result; readonly changes: FileChanges | null }> {
  const watcher = env.onlyReads ? null : env.watchFiles?.({ all, isBackground });
  const ended = await watcher?.begin();
  const report = async (): Promise<FileChanges | null> => {
    ended?.();
    return env.closed?.aborted ? null : await watcher?.report() ?? null;
  };
  let result: Result;
  try {
    result = await run();
  } catch (error) {
    await report().catch(() => {});
    throw error;
  }
  return { result, changes: await report() };
}

export const SHELL = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";

/** Without these variables, package managers would retry unreachable addresses for minutes. */
const OFFLINE = { npm_config_fetch_retries: "0", PIP_RETRIES: "0", CARGO_NET_RETRY: "0" };

export type ShellCommand = string | readonly string[];

export interface CommandOptions extends Pick<SpawnOptions, "timeoutMs" | "cwd" | "env" | "network" | "write"> {
  readonly stdin?: string;
  readonly secrets?: readonly string[];
}

export const lineOf = (command: ShellCommand): string => typeof command === "string" ? command : command.join(" ");

const OF_ONE = "network for this command", NETWORKED = "use the network";
const LONGEST_SCOPE = 300, LONGEST_OPTION = 300, MOST_SCOPES = 20;

const INSTEAD = "# Hidden from commands: shell.run(command, {secrets: [path]}) asks the user for it\n";

type Spawn = NonNullable<EnvironmentView["spawn"]>;
type Ran = Awaited<ReturnType<Spawn>> & Pick<CommandEnd, "codes">;
type SpawnOptions = NonNullable<Parameters<Spawn>[1]>;

interface Allowed {
  readonly spawn: (...options: [Parameters<Spawn>[1]]) => Promise<Ran>;
  readonly all: boolean;
}

export async function allowed(
  env: EnvironmentView,
  command: ShellCommand,
  asked: Omit<CommandOptions, "timeoutMs">,
): Promise<Allowed> {
  const { spawn } = env;
  if (!spawn) {
    throw new Error(
      "Cannot run commands: Vis starts no programs in the locked profile",
    );
  }
  const refusal = refusedBy(env.config as CommandRules | undefined, command);
  if (refusal !== null) throw new Error(refusal);
  if (env.onlyReads) await refuseInPlan(env, asked);
  await refuseAdded(env, asked);
  const argv = typeof command === "string" ? [SHELL, "-c", command] : command;
  const { cwd, env: own } = asked;
  const { all, ...more } = await approved(env, { ...asked, command, argv });
  const walls = await env.programWalls?.(), unwalled = walls?.unwalled;
  // If the wall is incomplete, the user may have to approve the command with its variables, so Vis adds no variables.
  const usual = walls === undefined || unwalled !== undefined
    ? {}
    : { PYTHONUNBUFFERED: "1", ...(more.network ?? walls.network ? {} : OFFLINE) };
  if (unwalled?.mode === "run") {
    env.warn?.(`Commands ran without a question behind an incomplete wall: ${unwalled.reason}`);
  }
  const run: Allowed["spawn"] = async (options) => {
    const variables = Object.keys(usual).length > 0 ? { env: { ...usual, ...options?.env } } : {};
    // In the mode `ask`, the question shows the arguments of this spawn, so Vis does not trace the line.
    const isTraced = typeof command === "string" && basename(SHELL) === "bash" && unwalled?.mode !== "ask";
    const parts = isTraced ? PartCodes.of(command) : null;
    const ended = await spawn(parts ? [SHELL, "-c", parts.traced] : argv, {
      ...{ ...options, ...more, ...variables, loopback: env.onlyReads ? null : env.conversationId },
      ...parts ? { asides: parts.asides } : {},
    });
    const codes = parts?.hiddenBy(ended) ?? null;
    const { discarded: names = [], ...result } = ended;
    const { obeyed, repositories } = result;
    if (obeyed) env.warn?.(`A command changed files that git runs or reads as settings: ${obeyed.join(", ")}`);
    if (repositories) {
      env.warn?.(
        `A command made a repository in ${
          repositories.join(", ")
        }: git uses its settings there, and git add -A in a folder above adds the repository`,
      );
    }
    const discarded = own?.["HOME"] === undefined ? discardedFiles(lineOf(command), names) : null;
    if (discarded) env.warn?.(discarded.people);
    const missed = result.code !== 0 || walls === undefined || unwalled !== undefined
      ? null
      : await missedRemovals(lineOf(command), {
        cwd: resolve(env.workspace, cwd ?? ""),
        within: [env.workspace, ...more.write ?? []],
        ...own?.["HOME"] === undefined ? {} : { home: resolve(env.workspace, own["HOME"]) },
      });
    if (missed?.people) env.warn?.(missed.people);
    const notes = [...result.notes, ...discarded ? [discarded.model] : [], ...missed?.model ? [missed.model] : []];
    return { ...codes ? { code: result.code, codes } : {}, ...result, notes };
  };
  return { spawn: run, all };
}

const IN_PLAN = "a plan, a review and a /btw question change nothing";
const FOR_LATER = "describe the command in the answer, so that the user's next request can run it";

export function refuseBackground({ onlyReads = false }: Pick<EnvironmentView, "onlyReads">): void {
  if (!onlyReads) return;
  throw advised(
    new Error(`Cannot start a background command in this request: ${IN_PLAN}`),
    `use shell.run, or ${FOR_LATER}`,
  );
}

async function refuseInPlan(
  { programWalls }: EnvironmentView,
  { network = false, write = [] }: Pick<CommandOptions, "network" | "write">,
): Promise<void> {
  const walls = await programWalls?.();
  if (walls?.whole === false) {
    throw advised(
      new Error(
        `Cannot run commands in this request: ${IN_PLAN}, and the command wall is incomplete (${walls.reason})`,
      ),
      FOR_LATER,
    );
  }
  const asked = [...network ? ["network"] : [], ...write.length > 0 ? ["write"] : []];
  if (asked.length === 0) return;
  throw advised(
    new Error(`Cannot run a command with ${asked.join(" and ")} in this request: ${IN_PLAN}`),
    `leave ${asked.join(" and ")} out, or ${FOR_LATER}`,
  );
}

async function refuseAdded(
  { workspace, root = workspace, readFolders = [], onlyReads = false }: EnvironmentView,
  { cwd }: Pick<CommandOptions, "cwd">,
): Promise<void> {
  if (!cwd || readFolders.length === 0) return;
  const named = resolve(workspace, cwd), folder = await realpath(named).catch(() => named);
  if (isWithin(folder, root) || !readFolders.some((one) => isWithin(folder, one))) return;
  const change = onlyReads ? "" : `, and {write: [${JSON.stringify(cwd)}]} asks the user to let it change files there`;
  throw advised(
    new Error(`Cannot run a command in ${cwd}: it is in an added folder`),
    `begin the command with ${commandText(["cd", cwd], {})} &&${change}`,
  );
}

/** The repository around the workspace has a question of its own. */
async function approved(
  env: EnvironmentView,
  { command, argv, network = false, write = [], secrets = [], cwd, env: variables, stdin }: CommandOptions & {
    readonly command: ShellCommand;
    readonly argv: readonly string[];
  },
): Promise<Pick<SpawnOptions, "network" | "write" | "hideSecrets" | "whole"> & Pick<Allowed, "all">> {
  const { workspace, root = workspace, readFolders = [], programWalls, openRoot } = env;
  const needs: Need[] = [];
  const seen = await Promise.all(
    secrets.map((path) => realpath(resolve(workspace, path)).catch(() => resolve(workspace, path))),
  );
  let all = root !== workspace && ((await openRoot?.(null))?.allowed ?? false);
  for (const path of seen) {
    const folder = [root, ...readFolders].find((one) => isWithin(path, one));
    const named = folder === root ? relative(root, path) : path;
    if (folder === undefined || !isSecretFile(named, env.secrets ?? [])) continue;
    // Vis does not hide the file from the command, which can then change it like other files.
    const may = isWithin(path, all ? root : workspace) ? "read and change" : "read";
    needs.push({
      does: `${env.onlyReads ? "read" : may} ${named}, which may hold keys`,
      option: commandText(["--set", `secrets=!${named}`], {}),
      scope: `commands that ${may} ${named}`,
      scopes: [`the secret file ${named} for commands`],
    });
  }
  const own = resolve(root, ".git");
  const placed = write.map((path) => path === ".git" ? own : resolve(workspace, path));
  const repositories = new Set(placed.flatMap((path) => repositoryOf(path, root) ?? []));
  for (const repository of repositories) {
    const which = repository === own ? "this repository" : `the repository ${dirname(relative(workspace, repository))}`;
    const does = `change ${which}'s history and settings`;
    needs.push({ does, scope: `commands that ${does}` });
  }
  const others = placed.filter((path) => repositoryOf(path, root) === null);
  const named = await Promise.all(others.map(realPath));
  const around = named.filter((path) => !isWithin(path, workspace) && isWithin(path, root));
  const asksForAll = around.length > 0 && !all;
  const paths = named.filter((path) => !isWithin(path, root));
  for (const path of paths) {
    const isFolder = await stat(path).then((found) => found.isDirectory(), () => true);
    needs.push({
      does: `change ${isFolder ? `the folder ${path} and all below it` : `the file ${path}`}`,
      scope: `commands that change the ${isFolder ? "folder" : "file"} ${path}`,
    });
  }
  // Vis asks no question about paths that the wall refuses anyway.
  const walls = network || needs.length > 0 || asksForAll
    ? await programWalls?.({ write: [...paths, ...around], ...(cwd === undefined ? {} : { cwd }) })
    : undefined;
  const asksForNetwork = network && !walls?.network;
  const given = {
    ...(cwd === undefined ? {} : { cwd }),
    ...(variables ? { env: variables } : {}),
    ...(stdin === undefined ? {} : { input: stdin }),
  };
  const look = async () => await env.networkScopes?.(argv, given) ?? { never: "its program is unknown" };
  const found = asksForNetwork ? await look() : null;
  if (found) {
    needs.push({
      does: NETWORKED,
      setting: "vis config set shell.network true",
      option: "--set shell.network=true",
      ..."never" in found ? { why: `Vis asks every time, because ${found.never}.`, scope: OF_ONE, lasting: false } : {
        why: found.runs.map((text) => `${text}, which Vis can change.`).join(" "),
        scope: `network for ${plainScopes(found.scopes).join(", ")}`,
        scopes: found.scopes.map((one) => `network for ${one}`),
      },
    });
  }
  const exact = commandText(command, {});
  const facts = commandFacts({
    ...(typeof cwd === "string" ? { cwd } : {}),
    ...(variables ? { env: variables } : {}),
    ...(stdin === undefined ? {} : { input: stdin }),
  });
  const how = facts.map((fact) => `, ${fact}`).join("");
  if (needs.length > 0) await ask(env, { needs, how, exact });
  // An approval of this question for the conversation or the workspace must not allow the other needs.
  if (asksForAll) {
    const { allowed = false, reason = "no user can answer here" } = await openRoot?.(
      `let a command change files in all of ${root}, the repository around the workspace${how}`,
      { exact },
    ) ?? {};
    if (!allowed) {
      throw new Error(
        `Cannot let a command change ${around.join(", ")}: ${reason}; the user can start Vis with --root to allow it`,
      );
    }
  }
  all ||= asksForAll;
  if (found && JSON.stringify(await look()) !== JSON.stringify(found)) {
    throw advised(
      new Error("Cannot run the command: its program or folder changed before the command began"),
      "run it again",
    );
  }
  for (const path of [...paths, ...around, ...seen]) {
    if (await realpath(path).catch(() => path) === path) continue;
    throw advised(
      new Error(`Cannot run the command with ${path}: a part of this path became a link before the command began`),
      "run it again",
    );
  }
  // Git must not store the line of explanation in place of a file.
  const mayStore = [...repositories, ...paths].some((path) => path.split("/").includes(".git"));
  const hideSecrets = { except: seen, instead: mayStore ? null : INSTEAD };
  if (env.onlyReads) return { hideSecrets, network: false, write: [], whole: true, all: false };
  return {
    hideSecrets,
    ...(network ? { network } : {}),
    ...(paths.length > 0 || repositories.size > 0 || all
      ? { write: [all ? root : workspace, ...repositories, ...paths] }
      : {}),
    all,
  };
}

function repositoryOf(path: string, root: string): string | null {
  const parts = relative(root, path).split("/"), at = parts.indexOf(".git");
  return at < 0 || !isWithin(path, root) ? null : resolve(root, ...parts.slice(0, at + 1));
}

interface Need {
  readonly does: string;
  readonly scope: string;
  readonly scopes?: readonly string[];
  readonly lasting?: boolean;
  readonly why?: string;
  readonly setting?: string;
  readonly option?: string;
}

/** The user approves the target of links, so the path must be real. */
async function realPath(path: string): Promise<string> {
  return await realpath(path).catch((error) => {
    const [why, advice] = error.code === "ENOENT"
      ? ["the path does not exist", "name an existing path, such as its folder"]
      : [error.code === "EACCES" ? "access is denied" : messageOf(error), "name a path that Vis may read"];
    throw advised(new Error(`Cannot run a command that changes ${path}: ${why}`), advice);
  });
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join() : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** An approval for the conversation or the workspace keeps a rule for each need. If a question cannot show these rules,
 * the answer counts only for this command. */
async function ask(
  { approve }: EnvironmentView,
  { needs, how, exact }: { readonly needs: readonly Need[]; readonly how: string; readonly exact: string },
): Promise<void> {
  const does = listed(needs.map((need) => need.does));
  const what = `${does === NETWORKED ? "run a command with access to the network" : `let a command ${does}`}${how}`;
  const scopes = needs.flatMap(({ scope, scopes = [scope] }) => scopes);
  const scope = needs.map((need) => need.scope).join(", ");
  const lasts = needs.every(({ lasting = true }) => lasting);
  const isShown = scope.length <= LONGEST_SCOPE && scopes.length <= MOST_SCOPES;
  const [only = null] = needs.length === 1 ? needs : [];
  const options = needs.flatMap(({ option = "" }) => option === "" ? [] : [option]);
  const option = options.length < needs.length ? "" : options.join(" ");
  const asked = await approve?.({
    what,
    exact,
    why: needs.flatMap(({ why = "" }) => why === "" ? [] : [why]).join(" "),
    ...option === "" || option.length > LONGEST_OPTION ? {} : { option },
    ...(lasts && isShown
      ? { scope, ...(scopes.join() === scope ? {} : { scopes }) }
      : { scope: only && isShown ? scope : "all of this for this command", lasting: false }),
  });
  const { allowed = false, reason = "no user can answer here", byUser = false } = asked ?? {};
  if (allowed) return;
  const settings = byUser ? [] : needs.flatMap(({ setting, does }) => {
    if (setting === undefined) return [];
    return [
      only
        ? `${setting} allows it without a question, from the next start of Vis on`
        : `${setting} allows a command to ${does}`,
    ];
  });
  const way = settings.length === 0 ? "" : `; ${settings.join(", and ")}`;
  throw new Error(
    `Cannot run the command: it needs an approval of ${scope.slice(0, LONGEST_SCOPE)}, and ${reason}${way}`,
  );
}

export function spawnOptions(
  { stdin, network: _asked, write: _askedToo, secrets: _seen, ...options }: CommandOptions,
): NonNullable<Parameters<Spawn>[1]> {
  return stdin === undefined ? options : { ...options, input: stdin };
}

interface CommandRules {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** A command can evade these patterns, so the rules only prevent mistakes. */
export function refusedBy(rules: CommandRules | undefined, command: string | readonly string[]): string | null {
  if (!rules || rules.allow.length + rules.deny.length === 0) return null;
  for (const part of partsOf(command)) {
    const denied = rules.deny.find((pattern) => matches(pattern, part));
    if (denied !== undefined) {
      return `Cannot run ${shown(part)}: the setting shell.deny has ${shown(denied)}; only the user can change it`;
    }
    if (rules.allow.length > 0 && !rules.allow.some((pattern) => matches(pattern, part))) {
      return `Cannot run ${shown(part)}: the setting shell.allow has only ${
        rules.allow.map(shown).join(", ")
      }; only the user can change it`;
    }
  }
  return null;
}

/** Quoted text may be a command line for another shell, so Vis also splits quoted text. */
function partsOf(command: string | readonly string[]): readonly string[] {
  const parts = lineOf(command).split(/[;&|\n\r(){}`]|\$\(/).map(trimmed).filter((part) => part !== "");
  return typeof command === "string" ? parts : [trimmed(lineOf(command))];
}

const trimmed = (text: string): string => text.trim().replace(/\s+/g, " ");

function matches(pattern: string, text: string): boolean {
  const plain = trimmed(pattern);
  return matchesWildcard(plain, text) || plain.endsWith(" *") && matchesWildcard(plain.slice(0, -2), text);
}

/** `hint` names options of the model's call, so people read another text. */
const PEOPLE_HINTS = new WeakMap<object, string>();

/** A missing program explains a failure better than the wall does. */
export function withCommandHint<Result extends object>(
  result: Result,
  { missing, wall }: { readonly missing: string | null; readonly wall: WallHint | null },
): Result & { readonly hint?: string } {
  const hint = missing ?? wall?.model;
  if (hint === undefined) return result;
  const hinted = { ...result, hint };
  PEOPLE_HINTS.set(hinted, missing ?? wall?.people ?? "");
  return hinted;
}

const shown = (text: string): string => JSON.stringify(shorten(text, 200));

export interface CommandEnd {
  readonly code: number | null;
  readonly codes?: readonly number[];
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly hint?: string;
  readonly whole?: string;
}

interface Tests {
  readonly passed: number | null;
  readonly failed: number | null;
}

const TAIL_CHARS = 4_000;

const REPEATS =
  /^npm (?:error|ERR!) (?:Lifecycle script .*|code ELIFECYCLE)\n(?:npm (?:error|ERR!).*(?:\n|$))*|^npm notice.*(?:\n|$)|^npm (?:error|ERR!)(?: A complete log of this run .*)?(?:\n|$)|^(?:\d+\.\.\d+|[#ℹ] (?:tests|suites|pass|cancelled|skipped|todo|duration_ms) +[\d.]+|[#ℹ] fail +0)(?:\n|$)|^(?:# {1,40}| {1,40})(?:at )?(?:async )?(?:.{1,200}\()?node:[^\s:]{1,200}:\d+:\d+\)?(?:\n|$)|^ {2,40}(?:---|\.\.\.|duration_ms: [\d.]+|type: '(?:test|suite)'|failureType: '\w+'|exitCode: \d+|signal: ~|code: 'ERR_\w+'|error: 'test failed'|stack: \|-\n(?= +\.\.\.))(?:\n|$)|^# (?:Node\.js v[\d.]+|Subtest: .*)(?:\n|$)/gm;

/** A failed test is a failure even if the exit code belongs to another command, as in `npm test | tail`. */
export function commandOutcome(result: CommandEnd): CallOutcome {
  return endOutcome(result, PEOPLE_HINTS.get(result));
}

function endOutcome(
  { code, codes = [], signal, timedOut, stdout, stderr, whole }: CommandEnd,
  hint: string | undefined,
): CallOutcome {
  const inStdout = testsIn(stdout);
  const tests = inStdout.passed === null && inStdout.failed === null ? testsIn(stderr) : inStdout;
  const end = timedOut
    ? "timed out"
    : signal !== null
    ? `ended by ${signal}`
    : codes.length > 0
    ? `exit codes ${codes.join(", ")}`
    : code === 0
    ? ""
    : `exit code ${code}`;
  const ok = end === "" && (tests.passed === null || !tests.failed);
  const text = [testsText(tests), end].filter((part) => part !== "").join(" · ");
  const exitCode = timedOut || signal !== null ? null : codes.find((one) => one !== 0 && one !== SIGPIPE) ?? code;
  const ended = { exitCode };
  return ok ? { text, ...ended } : {
    text: text || "failed",
    ok,
    ...ended,
    output: reasonsIn([stdout, stderr]),
    ...hint === undefined ? {} : { hint },
    ...whole === undefined ? {} : { kept: whole },
  };
}

function reasonsIn(outputs: readonly string[]): readonly string[] {
  const reasons = outputs.map((output) => output.replace(REPEATS, ""));
  return reasons.some((text) => text.trim() !== "") ? reasons : outputs;
}

export const ONLY_COMMANDS =
  "Only commands of this conversation reach this server, not the user's browser: {network: true}, which asks the user, opens it";

export function jobOutcome(
  report: Omit<CommandEnd, "stdout" | "stderr"> & {
    readonly command: string;
    readonly running: boolean;
    readonly output: string;
  },
): CallOutcome {
  const { command, running, output, ...ended } = report;
  const end = running
    ? {
      text: "",
      exitCode: null,
      ...report.hint === ONLY_COMMANDS ? { hint: "Only commands of Vis reach this server" } : {},
    }
    : endOutcome({ ...ended, stdout: output, stderr: "" }, PEOPLE_HINTS.get(report));
  return { ...end, subject: command };
}

function testsText({ passed, failed }: Tests): string {
  if (passed === null && failed === null) return "";
  if (!passed && !failed) return "no test passed";
  return [`${passed ?? 0} passed`, ...failed ? [`${failed} failed`] : []].join(", ");
}

const TOTALS =
  /^(?: *Tests:? +.*\d (?:pass|fail)ed\b.*|=+ .*\d (?:pass|fail)ed\b.*=+|(?:ok|FAILED) \| .*|test result: .*| +\d+ (?:pass|fail)ing\b.*|[#ℹ] (?:pass|fail) +\d+)$/gm;

/** A command may test several packages, so the totals of all runs count. */
function testsIn(output: string): Tests {
  const lines = output.match(TOTALS);
  const text = lines?.join("\n") ?? output.slice(-TAIL_CHARS);
  const count = (pattern: RegExp): number | null => {
    const found = [...text.matchAll(pattern)].map(([, before, after]) => Number(before ?? after));
    return lines === null ? found.at(-1) ?? null : found.length === 0 ? null : found.reduce((sum, one) => sum + one, 0);
  };
  return {
    passed: count(/(\d+) pass(?:ed|ing)\b|^[#ℹ] pass +(\d+)$/gm),
    failed: count(/(\d+) fail(?:ed|ing|ures?)\b|^[#ℹ] fail +(\d+)$/gm),
  };
}

const DENIED = /operation not permitted|permission denied|read-only file system|\bE(?:PERM|ACCES|ROFS)\b/i;
const REPOSITORY =
  /(?:\.git\b|\.husky|hooks|could not lock config|unable to create .*index\.lock).*read-only|read-only.*(?:\.git\b|\.husky|hooks)|device or resource busy/i;
/** Vis holds these names where a command could make a repository of the folder itself. */
const HELD =
  /(?:^|[\s'"‘`/])(?<!\.git\/[^\s'"‘`]*)(HEAD|refs|commondir)['"’`:]*\s.*(?:file exists|read-only|is a directory)/im;
/** If the wall refuses to create the folder of a path, Node.js reports that the folder is missing. */
const UNMADE = /\bENOENT\b.*\bmkdir\b/i;
const ABSENT = /no such file or directory|\bENOENT\b/i;
/** Commands can see the system's folders, so the wall does not cause errors about files there. */
const ELSEWHERE = /(?:^|[\s'"`])\/(?!(?:usr|bin|sbin|lib\w*|opt|etc|proc|dev)\/)\w/;
const UNREACHED = /could not resolve|name resolution|getaddrinfo|network is unreachable|\(from versions: none\)/i;
const NETWORK =
  /could not resolve|name resolution|getaddrinfo|network is unreachable|\bsocket|connect|\bbind\b|\blisten|\bport\b|https?:\/\//i;

/** With these codes, the programs report an unreachable host even if an option keeps them quiet. */
const UNREACHED_CODES: readonly (readonly [program: RegExp, codes: readonly number[]])[] = [
  [/(?<![\w.-])curl(?![\w.-])/, [6, 7]],
  [/(?<![\w.-])wget(?![\w.-])/, [4]],
];
const REMOTE = /(?:^|[;&|(]\s*)git(?:\s+-C\s+\S+)?\s+(push|fetch|pull)\b/m;
const NO_KEY = /Permission denied \(publickey|could not read (?:Username|Password)|Host key verification failed/i;
const OPENS_NETWORK = "vis config set shell.network true and a restart";
/** A failure to reach these hosts is no sign of a missing network. */
const LOCAL = /localhost|\b127\.\d|\[::1\]|\b0\.0\.0\.0\b|--unix-socket/;

const OWN_HOST =
  /(?:refused|(?:could not|couldn't|failed to|cannot) connect).*(?:localhost|\b127\.\d|::1)|(?:localhost|\b127\.\d|::1).*refused/i;

function isUnreached(line: string, codes: readonly number[], { isLocal = false } = {}): boolean {
  return LOCAL.test(line) === isLocal &&
    UNREACHED_CODES.some(([program, known]) => program.test(line) && codes.some((code) => known.includes(code)));
}

interface WallHint {
  readonly model: string;
  readonly people: string;
  readonly option?: string;
}

export interface CommandRights {
  readonly network?: boolean;
  readonly all?: boolean;
  readonly isWider?: boolean;
}

export function wallHint(
  { config, workspace, root = workspace, onlyReads = false, secrets = [] }: Pick<
    EnvironmentView,
    "config" | "workspace" | "root" | "onlyReads" | "secrets"
  >,
  output: string,
  { network: isGiven = false, loopback = false, line = "", cwd = "", codes = [], all = false, isWider = false }:
    & CommandRights
    & {
      readonly loopback?: boolean | undefined;
      readonly line?: string;
      readonly cwd?: string;
      readonly codes?: readonly number[];
    } = {},
): WallHint | null {
  const { network: isOpen = false } = (config ?? {}) as { readonly network?: boolean };
  const network = !onlyReads && (isOpen || isGiven);
  const lines = output.split("\n");
  const denied = lines.filter((line) => DENIED.test(line));
  const offline = !network &&
    (denied.some((line) => NETWORK.test(line)) || lines.some((line) => UNREACHED.test(line)) ||
      isUnreached(line, codes));
  const isHidden = (line: string): boolean => ABSENT.test(line) && ELSEWHERE.test(line.replaceAll(root, "."));
  const isAround = !onlyReads && !all && root !== workspace &&
    lines.some((line) => (DENIED.test(line) || UNMADE.test(line)) && namesAround(line, { workspace, root }));
  const held = HELD.exec(output)?.[1];
  if (held !== undefined && !onlyReads && !existsSync(join(workspace, held))) {
    const why = "while a command runs, so that git takes no files of a command for a repository";
    return {
      model: `Vis holds the name ${held} in cwd ${why}: choose another name, or {write: [".git"]}, which asks the user`,
      people: `Vis holds the name ${held} in the workspace ${why}`,
    };
  }
  const remote = onlyReads || codes.every((code) => code === 0) ? undefined : REMOTE.exec(line)?.[1];
  if (remote !== undefined && (offline || lines.some((line) => NO_KEY.test(line)))) {
    const cause = "Commands have no keys for remotes of git";
    const calls = remote === "push" ? "git.push() asks the user and has" : "git.fetch() asks the user and has";
    return { model: `${cause}: ${calls} the user's keys`, people: cause };
  }
  const hasFailed = codes.length === 0 || codes.some((code) => code !== 0);
  const isOwnHost = loopback && !network && !onlyReads && hasFailed &&
    (lines.some((line) => OWN_HOST.test(line)) || isUnreached(line, codes, { isLocal: true }));
  if (isOwnHost) {
    const cause = "Commands have their own localhost";
    return {
      model: `${cause}, without servers of the user: {network: true} asks the user and reaches them`,
      people: `${cause}, without your servers\n${OPENS_NETWORK} let commands reach them`,
    };
  }
  const isRefused = offline || isAround || denied.length > 0;
  if (!isRefused && !lines.some((line) => REPOSITORY.test(line) || isHidden(line))) return null;
  if (onlyReads) {
    const sees = "In this request, commands see the system, toolchains, added folders and";
    const may = ", reach no servers beyond the command wall, and write in $TMPDIR only";
    return {
      model: `${sees} cwd${may}: write there, or ${FOR_LATER}`,
      people: `${sees} the workspace${may}`,
    };
  }
  if (offline) {
    const cause = loopback ? "Commands reach only localhost" : "Commands have no network";
    return {
      model: `${cause}: {network: true} asks the user for the network; the user opens it for all with ${OPENS_NETWORK}`,
      people: `${cause}\n${OPENS_NETWORK} open the network for all commands`,
    };
  }
  const fixed = secretIn(lines.filter((line) => FIXED.test(line)), { workspace, root, secrets });
  const secret = fixed ?? secretIn(denied, { workspace, root, secrets });
  if (secret !== null) {
    const cause = `Commands cannot ${fixed === null ? "read" : "change"} the secret file ${secret}`;
    const way = fixed === null ? `git add -A -- ':!*${basename(secret)}' leaves it out, and` : "fs.writeFile or";
    return { model: `${cause}: ${way} {secrets: [${JSON.stringify(secret)}]} asks the user`, people: cause };
  }
  if (lines.some((line) => REPOSITORY.test(line))) {
    const other = otherRepository(lines, { workspace, root, line, cwd });
    if (other !== null) {
      const cause = `Commands cannot change the repository ${other}`;
      return { model: `${cause}: {write: [${JSON.stringify(`${other}/.git`)}]} asks the user`, people: cause };
    }
    const isNone = root === workspace && !existsSync(join(root, ".git"));
    const cause = isNone ? "Commands cannot make a repository of" : "Commands cannot change .git and";
    return isNone
      ? {
        model: `${cause} cwd: git.init() makes it, or {write: [".git"]}, which asks the user`,
        people: `${cause} the workspace`,
      }
      : {
        model: `${cause} what its settings name: use the functions of git, or {write: [".git"]}, which asks the user`,
        people: `${cause} what its settings name`,
      };
  }
  const obeyed = obeyedIn(lines, { workspace, cwd, within: all ? root : workspace });
  if (obeyed !== null) {
    const cause = `Commands cannot change ${obeyed}, which git or Vis obeys`;
    const isOfVis = isWithin(resolve(workspace, obeyed), join(workspace, ".vis"));
    return { model: `${cause}: ${isOfVis ? "the user can" : "fs.writeFile asks the user"}`, people: cause };
  }
  const around = root === workspace || all
    ? ""
    : `, as {write: [${JSON.stringify(relative(workspace, root))}]} for all of its repository`;
  const seen = root === workspace ? "cwd" : "the repository around cwd";
  const setting = "the user opens more folders for reading and running with --add-dir or the setting readFolders";
  const own = isWider ? ", in the paths of write" : "";
  const place = all ? "the repository" : "the workspace";
  return {
    model:
      `Commands see the system, toolchains, added folders, ${seen} and $TMPDIR, and write in ${
        all ? "the repository" : "cwd"
      }${own} and $TMPDIR only: {write: [path]} asks the user for more${around}` +
      (network ? "" : ", {network: true} for the network") + `; ${setting}`,
    people: `Commands see the system, toolchains, added folders, ${
      root === workspace ? "the workspace" : "the repository around the workspace"
    } and $TMPDIR, and write in ${place}${isWider ? ", in allowed paths" : ""} and $TMPDIR only\n${
      isAround
        ? "--root lets Vis change the whole repository"
        : "--add-dir and the setting readFolders open more folders for reading and running"
    }`,
    ...isAround ? { option: "--root" } : {},
  };
}

/** Returns the path of a repository below the workspace that a denied line names, perhaps relative to a folder that the
 * command entered. */
function otherRepository(
  lines: readonly string[],
  { workspace, root, line, cwd }: Record<"workspace" | "root" | "line" | "cwd", string>,
): string | null {
  const entered = [resolve(workspace, cwd)];
  for (const [, folder = ""] of line.matchAll(ENTERED)) entered.unshift(resolve(entered[0] ?? workspace, folder));
  for (const denied of lines.filter((line) => REPOSITORY.test(line))) {
    const below = /(?:^|[\s'"‘`])((?:[^\s'"‘`]*\/)?)\.git(?=[/'"’`:]|$)/.exec(denied)?.[1];
    if (below === undefined) continue;
    const folder = isAbsolute(below)
      ? resolve(below)
      : entered.map((one) => resolve(one, below)).find((one) => existsSync(join(one, ".git")));
    if (folder !== undefined && folder !== root && isWithin(folder, root)) return relative(workspace, folder);
  }
  return null;
}

const ENTERED = /(?:^|[\s;&|(])(?:cd|git\s+-C)\s+['"]?([^\s'"`$;&|()]+)/g;
const FIXED = /read-only file system|\bEROFS\b|device or resource busy/i;
const NAMES = /[^\s'"‘`’:,]+/g;

function secretIn(
  lines: readonly string[],
  { workspace, root, secrets }: Required<Pick<EnvironmentView, "workspace" | "root" | "secrets">>,
): string | null {
  const names = lines.flatMap((line) => line.match(NAMES) ?? []);
  const paths = names.map((name) => resolve(workspace, name)).filter((path) => isWithin(path, root));
  return paths.map((path) => relative(workspace, path)).find((path) => isSecretFile(path, secrets)) ?? null;
}

/** The command can change everything else in this folder. */
function obeyedIn(
  lines: readonly string[],
  { workspace, cwd, within }: Record<"workspace" | "cwd" | "within", string>,
): string | null {
  const isThere = (path: string, name: string): boolean =>
    path !== within && isWithin(path, within) && (existsSync(path) || name.includes("/") && existsSync(dirname(path)));
  for (const line of lines.filter((line) => FIXED.test(line))) {
    const name = line.replace(FIXED, "").match(NAMES)?.findLast((name) => isThere(resolve(workspace, cwd, name), name));
    if (name !== undefined) return relative(workspace, resolve(workspace, cwd, name));
  }
  return null;
}

const PATHS = /(?<=^|[\s'"‘`:=(])(?:\.\.\/|\/)[^\s'"’`:]*/g;

function namesAround(
  line: string,
  { workspace, root }: { readonly workspace: string; readonly root: string },
): boolean {
  const paths = [...line.matchAll(PATHS)].map(([path]) => resolve(workspace, path));
  return paths.some((path) => isWithin(path, root) && !isWithin(path, workspace));
}
