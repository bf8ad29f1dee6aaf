import { basename, isAbsolute, resolve } from "node:path";
import { isWithin } from "../../domain/kit/files.ts";
import { shellText } from "../../domain/kit/text.ts";

export type AskedCommand = string | readonly string[];

type CommandScopes =
  | { readonly scopes: readonly string[]; readonly runs: readonly string[] }
  | { readonly never: string };

const LONGEST_SCOPE = 200;

type PartScope = { readonly scope: string; readonly runs: string | null } | { readonly never: string };

export interface ScopePlace {
  readonly workspace: string;
  /** A command may start in any folder of `root`, such as a repository around the workspace. */
  readonly root: string;
  readonly shell: "sh" | "powershell";
  readonly cwd: string;
  /** Vis or earlier commands can change files of these folders, which include the workspace. */
  readonly changeable: readonly string[];
  readonly find: (program: string) => string | null;
  readonly folder: (path: string) => string | null;
  /** If true, the approval is for the network, and a lasting approval can cover fetches by package managers. */
  readonly network?: boolean;
}

/** Lasting approvals cover a later command if they cover the text of each of its scopes. */
export function commandScopes(command: AskedCommand, place: ScopePlace): CommandScopes {
  const isLine = typeof command === "string";
  if (isLine && place.shell === "powershell") return { never: "PowerShell reads the command" };
  const read = isLine ? readCommandLine(command) : { parts: [command] };
  if ("opaque" in read) return { never: read.opaque };
  const fault = "files" in read ? fileFault(read.files, place) : null;
  if (fault !== null) return { never: fault };
  const leftOut = "pipes" in read && place.network ? offlineParts(read) : [];
  const scopes = new Set<string>(), runs = new Set<string>();
  for (const [at, part] of read.parts.entries()) {
    const one = isLine && part[0] === "cd"
      ? cdScope(part, { place, isFirst: read.parts.slice(0, at).every(([name]) => name !== "cd") })
      : partScope(part, { place, isLine });
    if ("never" in one) return one;
    if (leftOut[at]) continue;
    if (one.scope.length > LONGEST_SCOPE) {
      return { never: `the command with the path of its program has more than ${LONGEST_SCOPE} characters` };
    }
    scopes.add(one.scope);
    if (one.runs !== null) runs.add(one.runs);
  }
  return { scopes: [...scopes], runs: [...runs] };
}

/** Without a wall, a file of a redirection could be any file, so only network approvals cover such lines. Some shells
 * open the network for files below /dev/tcp and /dev/udp. */
function fileFault(files: readonly string[], { workspace, cwd, network }: ScopePlace): string | null {
  if (files.length > 0 && !network) return "the command has >";
  for (const file of files) {
    if (/^\/dev\/(?:null|stdout|stderr)$/.test(file)) continue;
    const isDevice = isWithin(resolve(cwd, file), "/dev");
    const fault = isDevice ? { never: `${file} may be a device` } : outsidePath([file], workspace);
    if (fault) return fault.never;
  }
  return null;
}

/** A network approval leaves out parts that neither use the network nor write to a part that may use it. If only such
 * parts exist, all of them count. */
function offlineParts({ parts, pipes }: PlainLine): readonly boolean[] {
  const found: boolean[] = [];
  for (let at = parts.length - 1; at >= 0; at--) {
    const [name = ""] = parts[at] ?? [];
    found[at] = (name === "cd" || HARMLESS_BUILTINS.has(name) || PLAIN.has(name) || OFFLINE.has(name)) &&
      (!pipes[at] || found[at + 1] === true);
  }
  return found.every(Boolean) ? [] : found;
}

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const HARMLESS_BUILTINS = words("echo true false pwd :");
/** Some of these builtins of a possible /bin/sh run code, or change the meaning of the rest of the line. */
const BUILTINS = words(`
  . [ [[ alias autoload bg bind break builtin bye caller chdir command compgen complete compopt continue declare dirs
  disable disown echotc echoti emulate enable eval exec exit export false fc fg float functions getln getopts hash
  help history integer jobs kill let limit local log logout mapfile newgrp popd print printf pushd pushln r read
  readarray readonly rehash return sched set setopt shift shopt source suspend test time times trap typeset type
  ulimit umask unalias unfunction unhash unlimit unset unsetopt vared wait whence where which zcompile zmodload
  zparseopts zstyle`);
/** A lasting approval of these programs would allow too much, because their arguments decide what they run, change or
 * send. */
const RUNNERS: Readonly<Record<string, ReadonlySet<string>>> = {
  "a shell": words("sh bash dash ash zsh ksh ksh93 mksh rksh yash fish csh tcsh pwsh powershell cmd busybox toybox"),
  "an interpreter": words(`
    awk gawk mawk nawk original-awk tclsh wish expect lua luajit osascript julia ghci irb guile sqlite3 psql mysql ed
    ex vi vim nvim view emacs nano less more man gdb lldb m4 bc dc R Rscript groovy jshell scala iex erl`),
  "a program that runs others": words(`
    sudo doas su runuser pkexec setpriv env xargs nohup nice ionice chrt taskset timeout time watch parallel ssh
    mosh scp sftp rsync docker podman nerdctl buildah kubectl helm npx pnpx bunx uvx pipx setsid stdbuf unbuffer script
    strace ltrace perf valgrind unshare nsenter chroot flock entr tmux screen at batch systemd-run start-stop-daemon
    open xdg-open nix nix-shell direnv hyperfine ld.so rundll32 wscript cscript mshta start caffeinate`),
  "a program whose hooks or settings can run other programs": words("git gh hg svn"),
  "a program that changes settings or rights": words(`
    crontab launchctl systemctl service reg schtasks chmod chown chgrp chattr setfacl setfattr dd mkfs
    mount umount killall pkill shutdown reboot passwd useradd usermod defaults dscl ln install sysctl iptables
    ssh-keygen ssh-add gpg security`),
  "a program that sends data out": words(`
    curl wget nc ncat netcat socat telnet ftp lftp aria2c http https xh aws gcloud az terraform tofu pulumi vercel
    flyctl heroku netlify wrangler mail sendmail`),
};
const INTERPRETERS = words("python pypy node deno bun perl ruby php");
const CODE_OPTIONS: Readonly<Record<string, RegExp>> = {
  python: /^-[a-zA-Z]*c|^-i|^-$/,
  pypy: /^-[a-zA-Z]*c|^-i|^-$/,
  node: /^-[a-z]*[eprCi]|^-$|^--(?:eval|print|require|import|loader|experimental-loader|env-file|interactive)/,
  deno: /^eval$|^repl$|^x$|^-$/,
  bun: /^-[a-z]*[epri]|^-$|^--(?:eval|print|preload|require|import)|^x$|^repl$/,
  perl: /^-/,
  ruby: /^-/,
  php: /^-[a-zA-Z]*[rBREFaSd]|^-$|^--(?:run|process|interactive)/,
};
/** A lasting approval does not cover these options and subcommands. GNU programs accept prefixes of long options. */
const OPTIONS: Readonly<
  Record<string, { readonly subcommand?: RegExp; readonly short?: RegExp; readonly long?: readonly string[] }>
> = {
  find: { short: /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$/ },
  fd: { short: /^-[a-zA-Z]*[xX]/, long: ["exec", "exec-batch"] },
  tar: {
    short: /^-[a-zA-Z]*[IF]/,
    long: [
      ..."to-command checkpoint-action use-compress-program rsh-command info-script new-volume-script".split(" "),
    ],
  },
  sort: { short: /^-[a-zA-Z]*o/, long: ["output", "compress-program"] },
  rg: { long: ["pre", "hostname-bin"] },
  make: { short: /^-[a-zA-Z]*[fE]/, long: ["file", "makefile", "eval"] },
  rm: { short: /^-[a-zA-Z]*[rR]/, long: ["recursive"] },
  zip: { short: /^-[a-zA-Z]*T/, long: ["unzip-command"] },
  split: { long: ["filter"] },
  date: { short: /^-[a-zA-Z]*s/, long: ["set"] },
  go: { subcommand: /^env$/, short: /^-(?:exec|toolexec|vettool)/, long: ["exec", "toolexec"] },
  pip: { subcommand: /^config$/ },
  yarn: { subcommand: /^dlx$|^exec$|^config$|^set$|^publish$|^npm$|^login$|^link$/ },
  npm: {
    subcommand:
      /^(?:exec|x|c|config|set|get|publish|unpublish|deprecate|dist-tag|login|logout|adduser|token|access|owner|org|team|hook|profile|pkg|init|create|innit|explore|edit|link|ln|star)$/,
  },
  pnpm: { subcommand: /^(?:exec|dlx|config|c|set|publish|login|create|link|env|store)$/ },
  cargo: { subcommand: /^(?:publish|yank|login|logout|owner|install)$/ },
  dotnet: { subcommand: /^(?:tool|nuget|script)$/ },
  mvn: { short: /exec:|deploy|release|antrun/ },
  gradle: { short: /publish|upload/i },
};
/** These scripts of sed select lines by number or replace text, and neither run programs nor write files. */
const READING_SED = /^(?:(?:\d+(?:,(?:\d+|\$))?|\$)[pd]|\d+q|s\/[^/\\\n]*\/[^/\\\n]*\/[gip\d]*)$/;

/** A lasting approval of such a subcommand also covers other arguments that `isFree` accepts and that neither `ADDRESS`
 * nor `NOT_FREE` matches. */
const SUBCOMMANDS: Readonly<Record<string, { readonly of: ReadonlySet<string>; readonly runs: string }>> = {
  npm: { of: words("test t run run-script ci start ls outdated"), runs: "what package.json says" },
  pnpm: { of: words("test t run start build lint typecheck ls outdated"), runs: "what package.json says" },
  yarn: { of: words("test run start build lint typecheck check format outdated"), runs: "what package.json says" },
  bun: { of: words("test run"), runs: "what package.json and the tests say" },
  deno: { of: words("test check lint fmt task bench"), runs: "what deno.json and the tests say" },
  cargo: { of: words("test t check c build b clippy fmt doc bench run r"), runs: "build scripts and tests" },
  go: { of: words("test build vet fmt list"), runs: "the tests of this workspace" },
  dotnet: { of: words("test build restore run format"), runs: "what the project files say" },
  mvn: { of: words("test compile verify package"), runs: "what pom.xml says" },
  gradle: { of: words("test build check assemble"), runs: "what the build files say" },
  make: { of: words("test check all build lint clean"), runs: "what the Makefile says" },
  ruff: { of: words("check format"), runs: "" },
};
const RUST_FILES = "what .cargo/config.toml and rust-toolchain.toml name";
/** Without a package, these subcommands use `name` of package.json, which may be an address. */
const OF_PACKAGE = words("view v info show");
/** A lasting approval of the network for such a subcommand also covers other arguments that `READ` matches. `runs`
 * names files of the workspace that the package manager obeys. */
const READING: Readonly<Record<string, { readonly of: ReadonlySet<string>; readonly runs: string }>> = {
  npm: {
    of: words("view v info show ping search ls list audit whoami why explain"),
    runs: "with the registry that .npmrc names",
  },
  pnpm: {
    of: words("view v info show search ls list ll why outdated audit"),
    runs: "what .npmrc, .pnpmfile.cjs and package.json name",
  },
  yarn: { of: words("info list why outdated audit"), runs: "what .yarnrc.yml, .yarnrc and package.json name" },
  pip: { of: words("index show list search"), runs: "" },
  cargo: { of: words("search info"), runs: RUST_FILES },
  gem: { of: words("search list info outdated"), runs: "" },
  composer: { of: words("search show outdated audit"), runs: "plugins that composer.json allows" },
  dotnet: { of: words("list"), runs: "what the project files say" },
};
const NPM_FACTS = words("--version -v version --help -h help root prefix bin");
/** An address could make npm run the git that .npmrc names. The pattern therefore matches only names in the registry,
 * their fields, and options for printed data. */
const READ =
  /^(?!fix$)(?:(?:@[\w.-]+\/)?\w[\w.-]*(?:@[\w.^~-]+)?|--(?:json|all|long|depth=\d+|limit|limit=\d+|pre|remote|outdated))$/;
/** A lasting approval of the network for such a subcommand also covers other arguments that `isFree` or `PACKAGE`
 * accepts, except addresses. */
const FETCHING: Readonly<Record<string, { readonly of: ReadonlySet<string>; readonly runs: string }>> = {
  npm: { of: words("install i add update up"), runs: "scripts of packages" },
  pnpm: { of: words("install i add update up fetch"), runs: "scripts of packages" },
  yarn: { of: words("install add up upgrade"), runs: "scripts of packages" },
  bun: { of: words("install i add update"), runs: "scripts of packages" },
  deno: { of: words("install add cache update outdated"), runs: "" },
  pip: { of: words("install download"), runs: "scripts of packages" },
  uv: { of: words("sync add lock"), runs: "scripts of packages" },
  poetry: { of: words("install add update lock"), runs: "scripts of packages" },
  cargo: { of: words("fetch add update"), runs: RUST_FILES },
  go: { of: words("get mod"), runs: "" },
  dotnet: { of: words("add"), runs: "what the project files say" },
  bundle: { of: words("install update"), runs: "scripts of packages" },
  composer: { of: words("install update require"), runs: "scripts of packages" },
};
const PACKAGE =
  /^(?:@[\w.-]+\/[\w.@^~-]+|-[DEU]|-r|--(?:save-(?:dev|exact|optional)|no-save|no-audit|no-fund|prefer-offline|production|frozen-lockfile|ignore-scripts|dev|upgrade))$/;
/** Without the options in `OPTIONS`, these programs run no program that their arguments name, and write at most to places
 * that their arguments name. */
const PLAIN = words(`
  cat ls head tail wc grep egrep fgrep rg diff cmp stat file du df date uname whoami id basename dirname realpath readlink
  uniq cut tr nl od hexdump cksum md5sum sha1sum sha256sum sha512sum tree jq seq sleep sum comm paste fold column
  mkdir rmdir touch rm cp mv tee gofmt shellcheck`);
const OFFLINE = words("sort find sed");
const NPM_FOLDERS =
  /^(?:-w|-ws|-C|--workspaces?|--include-workspace-root|--prefix|--(?:workspace|prefix)=[\w@.\/][\w@.\/-]*)$/;
const FREE =
  /^(?:(?![-@])[^=]*|--|-[vqxsklin]+|-v+|-j\d*|-race|-short|-count=\d+|--(?:watch(?:All)?(?:=false)?|run|release|all|all-targets|all-features|workspace|coverage|silent|verbose|quiet|bail|noEmit|check|lib|tests?|bench|bins?|examples?|locked|offline|frozen|no-run|no-fail-fast|fail-fast|mode|nocapture|passWithNoTests|ci|color(?:=\w+)?|reporter(?:=\w+)?|threads|no-color|strict))$/;
/** An address with one of these schemes may lead to code outside the workspace. */
const ADDRESS = /^(?:npm|jsr|https?|file|data|node):/i;
/** Options of these tools may name files, and words with a colon name plugins of mvn. */
const NOT_FREE: Readonly<Record<string, RegExp>> = { mvn: /^-(?!q$)|:/, dotnet: /^-(?!v$)[a-z]/ };
const NAMED = words("run run-script task");
const TOOLS: Readonly<Record<string, string>> = {
  pytest: "the tests of this workspace",
  jest: "the tests of this workspace",
  vitest: "the tests of this workspace",
  phpunit: "the tests of this workspace",
  rspec: "the tests of this workspace",
  ctest: "the tests of this workspace",
  eslint: "what its configuration says",
  tsc: "",
  mypy: "what its configuration says",
};
const PYTHON_MODULES = words("pytest unittest mypy ruff black isort flake8 compileall");
const ALIASES: Readonly<Record<string, string>> = {
  nodejs: "node",
  pip3: "pip",
  gmake: "make",
  mvnw: "mvn",
  gradlew: "gradle",
  fdfind: "fd",
  gtar: "tar",
  bsdtar: "tar",
  gfind: "find",
  gsed: "sed",
  gsort: "sort",
};

function partScope(
  [typed = "", ...args]: readonly string[],
  { place, isLine }: { readonly place: ScopePlace; readonly isLine: boolean },
): PartScope {
  const { workspace, changeable, find } = place;
  const whole = shellText([basename(typed), ...args]);
  if (isLine && HARMLESS_BUILTINS.has(typed)) return outsidePath(args, workspace) ?? { scope: whole, runs: null };
  if (isLine && BUILTINS.has(typed)) return { never: `${typed} is a builtin of the shell` };
  const path = find(typed);
  if (path === null) return { never: `${typed} is not a program in PATH` };
  if (changeable.some((folder) => isWithin(path, folder))) return { never: `${path} can change after the answer` };
  if (isLine && typed.includes("/") && !isAbsolute(typed)) return { never: `${typed} depends on the folder` };
  const name = plainName(typed);
  if (name in Object.prototype) return { never: `${name} may run another program` };
  for (const one of new Set([name, plainName(path)])) {
    const why = runnerFault(one, args) ?? optionFault(one, args);
    if (why !== null) return { never: why };
  }
  const outside = outsidePath(args, workspace);
  if (outside) return outside;
  const [first = ""] = args;
  const isNamed = !OF_PACKAGE.has(first) || args.slice(1).some((word) => !word.startsWith("-"));
  const isReading = isNamed && READING[name]?.of.has(first) && args.every((word) => READ.test(word));
  const reading = isReading ? READING[name] : null;
  const registry = reading ? { words: [first], runs: reading.runs || null } : fetchingWords(name, args);
  const lead = leadingWords(name, args) ?? (place.network ? registry : null);
  const isKnown = [
    PLAIN.has(name),
    INTERPRETERS.has(name),
    name === "sed",
    Object.hasOwn(OPTIONS, name),
    Object.hasOwn(SUBCOMMANDS, name),
    place.network && (Object.hasOwn(FETCHING, name) || reading !== null),
    Object.hasOwn(TOOLS, name),
  ];
  if (lead === null && !isKnown.includes(true)) return { never: `${name} may run another program` };
  if (lead === null) {
    const file = INTERPRETERS.has(name) ? args.find((word) => !word.startsWith("-")) : undefined;
    const isModule = (name === "python" || name === "pypy") && args[args.indexOf(file ?? "") - 1] === "-m";
    const code = isModule ? `${file} of the workspace if it exists` : file;
    const informs = name === "npm" && args.length === 1 && NPM_FACTS.has(first);
    const runs = informs ? null : reading?.runs ?? code ?? (SUBCOMMANDS[name]?.runs || TOOLS[name]);
    return { scope: `${whole} (${path})`, runs: runs ? `${whole} runs ${runs}` : null };
  }
  const leading = shellText([basename(typed), ...lead.words]);
  const runs = reading?.runs ?? lead.runs;
  return { scope: `${leading} … (${path})`, runs: runs ? `${leading} runs ${runs}` : null };
}

/** Later paths count as if the folder had not changed, because each path stays below its folder. */
function cdScope(
  [, ...args]: readonly string[],
  { place: { workspace, root, cwd, network, folder }, isFirst }: {
    readonly place: ScopePlace;
    readonly isFirst: boolean;
  },
): PartScope {
  const [to = "", ...rest] = args;
  if (rest.length > 0 || to === "" || to.startsWith("-")) return { never: "cd has other arguments than one folder" };
  if (!isFirst) return { never: "the command changes the folder twice" };
  const path = folder(resolve(cwd, to));
  if (path === null || !isWithin(path, network ? root : workspace)) {
    return { never: `${to} is not a folder of the workspace` };
  }
  return { scope: shellText(["cd", to]), runs: null };
}

function plainName(program: string): string {
  const name = basename(program).toLowerCase().replace(/\.(?:exe|cmd|bat|com)$/, "").replace(/-?\d+(?:\.\d+)*$/, "");
  const plain = name === "" ? basename(program) : name;
  return Object.hasOwn(ALIASES, plain) ? ALIASES[plain] ?? plain : plain;
}

function runnerFault(name: string, args: readonly string[]): string | null {
  for (const [kind, names] of Object.entries(RUNNERS)) {
    if (names.has(name) || name.startsWith("mkfs.")) return `${name} is ${kind}`;
  }
  if (name === "sed") {
    const [script = "", ...files] = args.filter((word) => !/^-[nEr]+$/.test(word));
    return READING_SED.test(script) && !files.some((word) => word.startsWith("-"))
      ? null
      : "sed may write files and run programs";
  }
  return INTERPRETERS.has(name) ? codeFault(name, args) : null;
}

const SCRIPT = /\.(?:[cm]?[jt]sx?|py|rb|php)$/;

function codeFault(name: string, args: readonly string[]): string | null {
  // Options after a script or a module belong to that script or module.
  const end = args.findIndex((word) => SCRIPT.test(word) || word === "-m" || word === "--test");
  const own = end === -1 ? args : args.slice(0, end);
  const code = own.find((word) => CODE_OPTIONS[name]?.test(word));
  if (code !== undefined) return `${name} ${code} runs code`;
  const asksVersion = args.length === 1 && /^--version$|^-[vV]$/.test(args[0] ?? "");
  const runsNothing = end === -1 && args.every((word) => word.startsWith("-"));
  return runsNothing && !asksVersion ? `${name} without a file runs code` : null;
}

function optionFault(name: string, args: readonly string[]): string | null {
  const options = OPTIONS[name];
  if (!options) return null;
  // The first word of tar is a bundle of options, with or without a dash.
  const [first = "", ...rest] = args;
  const judged = name === "tar" && !first.startsWith("-") ? [`-${first}`, ...rest] : args;
  // The value of an option in front may look like the subcommand.
  const commands = first.startsWith("-") || first.startsWith("+") ? args : [first];
  const found = commands.find((word) => options.subcommand?.test(word)) ??
    judged.find((word) =>
      word.startsWith("--") ? options.long?.some((long) => isBeginning(word, long)) : options.short?.test(word)
    );
  if (found === undefined) return null;
  return `${name} ${found} may run a program or change more than its files`;
}

function isBeginning(word: string, long: string): boolean {
  const name = word.slice(2).split("=", 1)[0] ?? "";
  return name !== "" && long.startsWith(name);
}

function outsidePath(args: readonly string[], workspace: string): { readonly never: string } | null {
  const found = args.find((word) =>
    word.split(/[=:,@\s]/).some((piece) => {
      const path = piece.replace(/^-+[A-Za-z]*(?=[/~.])/, "");
      if (path.split(/[/\\]/).includes("..") || /^~|^[A-Za-z]:\\|^\\\\/.test(path)) return true;
      return path.startsWith("/") && path !== "/dev/null" && !isWithin(path, workspace);
    })
  );
  return found === undefined ? null : { never: `${found} may be outside the workspace` };
}

function leadingWords(
  name: string,
  args: readonly string[],
): { readonly words: readonly string[]; readonly runs: string | null } | null {
  const [first = "", second = ""] = args;
  const own = INTERPRETERS.has(name) && first === "-m" ? args.slice(2) : args;
  if (own.some((word) => !isFree(name, word) || ADDRESS.test(word) || NOT_FREE[name]?.test(word))) return null;
  const tool = TOOLS[name];
  if (tool !== undefined) return { words: [], runs: tool || null };
  if ((name === "python" || name === "pypy") && first === "-m" && PYTHON_MODULES.has(second)) {
    return { words: [first, second], runs: "files of this workspace" };
  }
  const table = SUBCOMMANDS[name];
  if (!table?.of.has(first)) return null;
  const runs = table.runs || null;
  const isNamed = NAMED.has(first) && !["cargo", "go", "dotnet"].includes(name);
  if (!isNamed) return { words: [first], runs };
  return second === "" || second.startsWith("-") ? null : { words: [first, second], runs };
}

function isFree(name: string, word: string): boolean {
  return FREE.test(word) || name === "npm" && NPM_FOLDERS.test(word);
}

function fetchingWords(
  name: string,
  [first = "", ...rest]: readonly string[],
): { readonly words: readonly string[]; readonly runs: string | null } | null {
  const table = FETCHING[name];
  const isOwn = (word: string): boolean => (isFree(name, word) || PACKAGE.test(word)) && !/^[\w+]+:/.test(word);
  return table?.of.has(first) && rest.every(isOwn) ? { words: [first], runs: table.runs || null } : null;
}

interface PlainLine {
  readonly parts: readonly (readonly string[])[];
  /** True means that the next part reads the output of the part. */
  readonly pipes: readonly boolean[];
  readonly files: readonly string[];
}

type CommandLine = PlainLine | { readonly opaque: string };

/** In some shells, these words are syntax at the beginning of a command. */
const RESERVED = new Set(
  "if then else elif fi do done case esac while until for in select function time coproc repeat foreach end nocorrect noglob"
    .split(" "),
);
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
const HARMLESS_VARIABLES = words(`
  CI NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM TERM COLUMNS LINES LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES
  LC_NUMERIC LC_TIME LC_COLLATE NODE_ENV PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE RUST_BACKTRACE NO_UPDATE_NOTIFIER
  npm_config_loglevel npm_config_fund npm_config_audit`);

export function isHarmlessVariable(name: string, value: string): boolean {
  return HARMLESS_VARIABLES.has(name) && /^[\w.@-]*$/.test(value);
}
const REDIRECTION = /(?:[12]?>&[12]|[12]?> ?\/dev\/null|< ?\/dev\/null)(?=[ \t\n;|&]|$)/y;
const WRITING = /[12]?>>?[ \t]*/y;
const WRITTEN = /^[\w./][\w./+@-]*$/;
const OPERATOR = /&&|\|\||[;|\n]/y;
/** Shells take these parts of a word literally; quoted parts lose their quotes. */
const PIECE = /([\w\-./:=,+@%^]+)|'([\x20-\x26\x28-\x7e]*)'|"([\x20\x23\x25-\x5b\x5d-\x5f\x61-\x7e]*)"/y;

/** If the result has `parts`, a POSIX shell runs at most these programs, with these arguments, and itself writes at most
 * `files`. */
export function readCommandLine(text: string): CommandLine {
  const parts: string[][] = [];
  const pipes: boolean[] = [];
  const files: string[] = [];
  let words: string[] = [];
  let wants = true;
  let redirected = false;
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found;
  };
  while (at < text.length) {
    if (take(/[ \t]+/y)) continue;
    const operator = take(OPERATOR)?.[0];
    if (operator !== undefined) {
      if (words.length === 0) {
        if (operator === "\n" && !redirected) continue;
        return {
          opaque: redirected
            ? "the command line redirects without a command"
            : `the command line has ${shown(operator)} without a command`,
        };
      }
      parts.push(words);
      pipes.push(operator === "|");
      words = [];
      redirected = false;
      wants = operator !== ";" && operator !== "\n";
      continue;
    }
    if (take(REDIRECTION)) {
      redirected = true;
      continue;
    }
    if (take(WRITING)) {
      const file = readWord(take);
      if (file === null || !WRITTEN.test(file)) return { opaque: "the command has >" };
      files.push(file);
      redirected = true;
      continue;
    }
    const word = readWord(take);
    if (word === null) return { opaque: `the command has ${shown(text.charAt(at))}` };
    const isFirst = words.length === 0;
    if (isFirst && redirected) return { opaque: "a redirection comes before the command" };
    const [name = "", value] = isFirst ? word.split("=", 2) : [];
    if (value !== undefined && isHarmlessVariable(name, word.slice(name.length + 1))) continue;
    if (isFirst && (RESERVED.has(word) || ASSIGNMENT.test(word) || !/^[\w./]|^:$/.test(word))) {
      return { opaque: `a part of the command begins with ${word === "" ? "an empty word" : word}` };
    }
    if (word.startsWith("=")) return { opaque: `the command has the word ${word}` };
    words.push(word);
  }
  if (redirected && words.length === 0) return { opaque: "the command line redirects without a command" };
  if (words.length > 0) {
    parts.push(words);
    pipes.push(false);
  } else if (wants) {
    return { opaque: parts.length === 0 ? "the command line is empty" : "the command ends with an operator" };
  }
  return { parts, pipes, files };
}

function readWord(take: (pattern: RegExp) => RegExpExecArray | null): string | null {
  let word: string | null = null;
  for (;;) {
    const piece = take(PIECE);
    if (!piece) break;
    word = (word ?? "") + (piece[1] ?? piece[2] ?? piece[3] ?? "");
  }
  return word !== null && take(/(?=[ \t\n;|]|&&|$)/y) ? word : null;
}

function shown(text: string): string {
  if (text === "\n") return "a line break";
  if (text === "'" || text === '"') return "quoted text with special characters";
  if (text === "~") return "~, which a shell may replace with a folder";
  return /^[\x21-\x7e]+$/.test(text) ? text : "a character that is not plain ASCII";
}
