import { readlinkSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import {
  advised,
  clip,
  commandText,
  type EnvironmentView,
  isWithin,
  readForeignJson,
  smallTextFile,
} from "@vis/extension";
import { Git, plainReason, spawnOf } from "./git.ts";
import { currentBranch } from "./refs_and_paths.ts";
import { askFor, remoteOf } from "./remotes.ts";

export interface GhOptions {
  readonly remote?: string;
}

interface Ran {
  readonly code: number;
  readonly text: string;
  readonly json?: unknown;
  readonly url?: string;
  readonly truncated?: boolean;
}

interface Command {
  readonly changes: boolean;
  /** Without these flags, gh would ask in a terminal. */
  readonly needs?: readonly string[];
  readonly ofBranch?: boolean;
}

const READS: Command = { changes: false }, CHANGES: Command = { changes: true };
const READS_BRANCH: Command = { changes: false, ofBranch: true };
const CHANGES_BRANCH: Command = { changes: true, ofBranch: true };

/** Other commands change settings or keys of the user, or work on files and other repositories. */
const COMMANDS: Readonly<Record<string, Command>> = {
  "pr view": READS_BRANCH,
  "pr diff": READS_BRANCH,
  "pr checks": READS_BRANCH,
  "pr list": READS,
  "pr create": { changes: true, needs: ["title", "body"] },
  "pr comment": { changes: true, needs: ["body"], ofBranch: true },
  "pr review": CHANGES_BRANCH,
  "pr edit": CHANGES_BRANCH,
  "pr ready": CHANGES_BRANCH,
  "pr merge": CHANGES_BRANCH,
  "pr close": CHANGES_BRANCH,
  "pr reopen": CHANGES_BRANCH,
  "issue view": READS,
  "issue list": READS,
  "issue create": { changes: true, needs: ["title", "body"] },
  "issue comment": { changes: true, needs: ["body"] },
  "issue edit": CHANGES,
  "issue close": CHANGES,
  "issue reopen": CHANGES,
  "run view": READS,
  "run list": READS,
  "run rerun": CHANGES,
  "run cancel": CHANGES,
  "release view": READS,
  "release list": READS,
  api: READS,
};

/** Vis refuses all other flags, because some of them read or write files, start a browser, read the user's environment
 * variables (`--jq`), or select another repository. */
const VALUE_FLAGS: Readonly<Record<string, RegExp>> = {
  // Several `repo:`, `org:` or `user:` and OR find issues of other repositories.
  search: /^(?!.*\bOR\b)[^:()]*$/,
  ...matching(/^[\w.-]*[\w-][\w.-]*$/, "workflow"),
  ...matching(/^\d+$/, "limit job attempt"),
  ...matching(
    /^[^]*$/,
    "json state label author assignee base head title body milestone reviewer reason branch status event user subject " +
      "match-head-commit add-label remove-label add-assignee remove-assignee add-reviewer remove-reviewer",
  ),
};
const PLAIN_FLAGS: readonly string[] =
  ("comments log log-failed draft patch name-only approve request-changes required rebase squash merge auto " +
    "disable-auto delete-branch failed undo paginate").split(" ");
const LISTS = /^(?:json|label|assignee|reviewer|(?:add|remove)-\w+)$/;
const MAX_BYTES = 1 << 20, TIMEOUT_MS = 120_000, LONGEST_TEXT = 4_000;

function matching(pattern: RegExp, flags: string): Readonly<Record<string, RegExp>> {
  return Object.fromEntries(flags.split(" ").map((flag) => [flag, pattern]));
}

export function ghReads(args: unknown): boolean {
  try {
    return !parsed(args).command.changes;
  } catch {
    return true;
  }
}

export async function gh(
  env: EnvironmentView,
  args: readonly string[],
  { remote: named }: GhOptions = {},
): Promise<Ran> {
  const { name, command, flags, words } = parsed(args);
  const cannot = `Cannot run gh ${name}`;
  const git = await Git.of(env);
  const head = await currentBranch(git);
  const remote = await remoteOf(git, { named, branch: head, cannot, pushes: false });
  const place = placeOf(remote.url);
  if (place === null) {
    throw advised(
      new Error(`${cannot}: the address of ${remote.name} is ${remote.shown}, not HOST/OWNER/NAME`),
      "pass {remote: NAME} of a remote on GitHub",
    );
  }
  const { host, repository } = place;
  const ofHead = (advice: string): string => {
    if (head === "") throw advised(new Error(`${cannot}: no branch is checked out`), advice);
    return head;
  };
  if (!await hasLogin(host)) {
    throw advised(
      new Error(`${cannot}: gh has no login for ${host} in ~/.config/gh`),
      `ask the user to run gh auth login --hostname ${host}`,
    );
  }
  if (command.ofBranch && words.length === 0) {
    const branch = ofHead("name a branch or a number");
    if (/^\d+$/.test(branch)) {
      throw advised(new Error(`${cannot}: gh would take the branch ${branch} for a number`), "name the pull request");
    }
    words.push(branch);
  }
  if (name === "pr create") {
    const branch = flags.get("head") ?? ofHead("pass --head");
    flags.set("head", branch);
    const ref = `refs/remotes/${remote.name}/${branch}`;
    if (!branch.includes(":") && (await git.run(["show-ref", "--verify", "--quiet", ref])).code !== 0) {
      throw advised(
        new Error(`${cannot}: git knows no branch ${branch} of ${remote.name}`),
        "call git.push() or git.fetch() first",
      );
    }
  }
  // In the question, a long text must not hide what follows.
  const sorted = [...flags].sort(([, one], [, other]) => (one ?? "").length - (other ?? "").length);
  const whole = [
    "gh",
    ...name.split(" "),
    ...name === "api" ? words.map((word) => `repos/${repository}/${word}`) : words,
    ...name === "api" ? ["--method=GET", `--hostname=${host}`] : [`--repo=${host}/${repository}`],
    ...sorted.map(([flag, value]) => value === null ? `--${flag}` : `--${flag}=${value}`),
  ];
  const exact = commandText(whole, {}), shown = `${host}/${repository}`;
  if (exact.length > LONGEST_TEXT) {
    throw advised(
      new Error(`${cannot}: the question has ${exact.length} characters, and the limit is ${LONGEST_TEXT}`),
      "write a shorter text",
    );
  }
  refuseSettings(env, cannot);
  await askFor(env, {
    cannot,
    what: command.changes ? `run gh ${name} as you in ${shown}` : `read ${shown} with gh`,
    exact,
    why: "gh uses your login on GitHub.",
    scope: command.changes ? `gh ${name} in ${shown}` : `reading ${shown} with gh`,
    lasting: !command.changes,
    program: "gh",
  });
  const { code, stdout, stderr, timedOut, truncated } = await spawnOf(env)(whole, {
    ...{ asUser: true, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, env: ENVIRONMENT },
    onBegin: () => refuseSettings(env, cannot),
  }).catch((error: unknown) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw advised(new Error(`${cannot}: gh is not installed`), "ask the user to install gh and run gh auth login");
  });
  env.signal?.throwIfAborted();
  if (timedOut) {
    throw advised(
      new Error(`${cannot}: gh ran longer than ${TIMEOUT_MS / 1000} s, the limit`),
      "ask the user to run gh",
    );
  }
  if (code !== 0 && stdout.trim() === "") throw new Error(`${cannot}: ${plainReason(stderr)}`);
  const json = flags.has("json") || name === "api" ? jsonOf(stdout) : undefined;
  const [url] = command.changes ? /^https:\/\/\S+$/.exec(stdout.trim().split("\n").at(-1) ?? "") ?? [] : [];
  return {
    code,
    text: stdout || stderr,
    ...url === undefined ? {} : { url },
    ...json === undefined ? {} : { json },
    ...truncated ? { truncated } : {},
  };
}

/** gh prints a JSON array for each page of an API call. */
function jsonOf(text: string): unknown {
  for (const one of [text, text.replace(/\]\s*\[/g, ",")]) {
    try {
      return readForeignJson(one);
    } catch {
      // The next form may be valid.
    }
  }
  return undefined;
}

/** A repository around the folder in which gh starts could name programs, so git of gh finds none. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_DIR: "/dev/null",
  // `refuseSettings` checks the usual folder only.
  GH_CONFIG_DIR: "",
  XDG_CONFIG_HOME: "",
  // gh keeps logs there, so the folder of this call.
  TMPDIR: ".",
  GH_PROMPT_DISABLED: "1",
  GH_NO_UPDATE_NOTIFIER: "1",
  GH_DEBUG: "",
  GH_FORCE_TTY: "",
  CLICOLOR_FORCE: "0",
  NO_COLOR: "1",
};

interface Parsed {
  readonly name: string;
  readonly command: Command;
  readonly flags: Map<string, string | null>;
  readonly words: string[];
}

function parsed(given: unknown): Parsed {
  const args = Array.isArray(given) ? given.map(String) : [];
  const name = args[0] === "api" ? "api" : args.slice(0, 2).join(" ");
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const cannot = `Cannot run gh ${clip(name, 80)}`;
  if (command === undefined) {
    throw advised(
      new TypeError(`${cannot}: git.gh runs only ${Object.keys(COMMANDS).join(", ")}`),
      "ask the user to run other commands",
    );
  }
  if (args.some((arg) => arg.includes("\0"))) throw new TypeError(`${cannot}: an argument has a NUL character`);
  const flags = new Map<string, string | null>(), words: string[] = [];
  const rest = args.slice(name.split(" ").length);
  while (rest.length > 0) {
    const arg = rest.shift() ?? "";
    if (!arg.startsWith("-")) {
      const word = name === "api" ? arg.replace(/^\/?(?:repos\/\{owner\}\/\{repo\}\/)?/, "") : arg.replace(/^#/, "");
      words.push(checkedWord(word, { cannot, isPath: name === "api" }));
      continue;
    }
    const [, flag = "", value] = /^--([a-z-]+)(?:=([^]*))?$/.exec(arg) ?? [];
    const form = flag === "comment" && name !== "pr review"
      ? /^[^]*$/
      : Object.hasOwn(VALUE_FLAGS, flag)
      ? VALUE_FLAGS[flag]
      : undefined;
    const isText = form !== undefined;
    const isPlain = PLAIN_FLAGS.includes(flag) || flag === "comment" && name === "pr review";
    if (!isText && !isPlain || name === "api" && flag !== "paginate") {
      throw advised(
        new TypeError(`${cannot}: git.gh does not know the flag ${clip(arg, 80)}`),
        name === "api"
          ? "pass --paginate only"
          : /^-[^-]/.test(arg)
          ? "pass the long form, such as --title or --json"
          : "omit it, or ask the user to run the command",
      );
    }
    const text = isText ? value ?? rest.shift() : value;
    if (isText === (text === undefined)) {
      throw new TypeError(`${cannot}: --${flag} ${isText ? "needs a value" : "takes no value"}`);
    }
    if (text !== undefined && !form?.test(text)) {
      throw new TypeError(`${cannot}: git.gh does not take ${JSON.stringify(clip(text, 100))} for --${flag}`);
    }
    const before = flags.get(flag);
    if (before !== undefined && !LISTS.test(flag)) throw new TypeError(`${cannot}: --${flag} is given twice`);
    flags.set(flag, text === undefined ? null : before ? `${before},${text}` : text);
  }
  const lacking = command.needs?.find((flag) => !flags.has(flag));
  if (lacking !== undefined) throw new TypeError(`${cannot}: it needs --${lacking}`);
  if (name === "api" && words.length !== 1) {
    throw new TypeError(`${cannot}: it needs one path below repos/OWNER/NAME, such as pulls/12/comments`);
  }
  return { name, command, flags, words };
}

/** Another address, or a path with dots, could lead to another repository. */
function checkedWord(
  word: string,
  { cannot, isPath }: { readonly cannot: string; readonly isPath: boolean },
): string {
  const form = isPath ? /^[^\s\\?#%:]+(?:\?[\w=&.,-]*)?$/ : /^[^\s\\?#%:]+(?::[^\s\\?#%:/][^\s\\?#%:]*)?$/;
  if (form.test(word) && !word.split(/[/?]/).includes("..")) return word;
  throw advised(
    new TypeError(
      `${cannot}: ${JSON.stringify(clip(word, 100))} is not ${isPath ? "a path of the API" : "a number or a name"}`,
    ),
    "gh runs in the repository of the remote only",
  );
}

/** Commands could change settings in the workspace, which lead gh to another program or host. */
function refuseSettings({ root, workspace }: EnvironmentView, cannot: string): void {
  const named = settingsFiles().find((path) => leadsInto(root ?? workspace, path));
  if (named === undefined) return;
  throw advised(
    new Error(`${cannot}: ${named} leads into the workspace, where commands can change it`),
    "ask the user to run gh",
  );
}

function settingsFiles(): readonly [config: string, hosts: string] {
  const folder = join(homedir(), ".config/gh");
  return [join(folder, "config.yml"), join(folder, "hosts.yml")];
}

/** A link may name a file that is missing until a command makes it, so each link of the path counts. */
function leadsInto(top: string, path: string, left = 40): boolean {
  const [first = "", ...rest] = path.split(sep).filter((name) => name !== "");
  let at = `${sep}${first}`;
  for (const [index, name] of ["", ...rest].entries()) {
    at = join(at, name);
    if (isWithin(at, top) || left === 0) return true;
    const target = linkOf(at);
    if (target !== null) return leadsInto(top, resolve(dirname(at), target, ...rest.slice(index)), left - 1);
  }
  return false;
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null; // The path is not a link.
  }
}

/** A remote can name any host, and gh would send a token of the user there. */
async function hasLogin(host: string): Promise<boolean> {
  if (host === "github.com") return true;
  const [, hosts] = settingsFiles();
  const text = await smallTextFile(hosts, { links: true }) ?? "";
  return text.split("\n").some((line) => line.trimEnd().toLowerCase() === `${host}:`);
}

function placeOf(url: string): { readonly host: string; readonly repository: string } | null {
  const address = /^https?:\/\/(?:[^/@]*@)?([^/:]+)\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url) ??
    /^ssh:\/\/(?:[^/@]*@)?([^/:]+)(?::\d+)?\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url) ??
    /^(?:[^/@:]*@)?([^/@:]+):\/?([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url);
  const [, host = "", repository = ""] = address ?? [];
  if (!/^[\w.-]+$/.test(host) || repository.split("/").some((part) => /^\.+$/.test(part))) return null;
  return { host: host.toLowerCase() === "ssh.github.com" ? "github.com" : host.toLowerCase(), repository };
}
