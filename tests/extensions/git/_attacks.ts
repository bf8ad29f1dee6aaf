import type { TestRepository } from "./_repository.ts";

/** What a repository does to whoever looks at it with git. */
export interface Attack {
  readonly name: string;
  readonly set: (repository: TestRepository) => Promise<unknown>;
  /** What a user does that brings it about. */
  readonly obey: (repository: TestRepository) => Promise<unknown>;
}

const MARKS = ["outside/marker", "workspace/marker", "workspace/.git/marker"];

/** Whether a program of the repository ran. */
export function ran({ exists }: TestRepository): boolean {
  return MARKS.some(exists);
}

/** Takes away what programs left that ran while they were named. */
export async function clear({ root, exists }: TestRepository): Promise<void> {
  for (const path of MARKS) if (exists(path)) await Deno.remove(`${root}/${path}`);
}

/** A program that leaves marks wherever it may, and passes its input on where it is a filter. */
async function evil({ root, write }: TestRepository, { filter = true } = {}): Promise<string> {
  const marks = MARKS.map((path) => `echo x > ${root}/${path}`).join("; ");
  await write(".evil.sh", `#!/bin/sh\n{ ${marks}; } 2>/dev/null\n${filter ? "cat" : "exit 1"}\n`, { mode: 0o755 });
  return `${root}/workspace/.evil.sh`;
}

const settings =
  (name: string, values: (program: string) => Readonly<Record<string, string>>, options = {}): Attack["set"] =>
  async (repository) => {
    const program = await evil(repository, options);
    for (const [key, value] of Object.entries(values(program))) {
      await repository.git("config", name === "" ? key : `${name}.${key}`, value);
    }
  };

const attributes = (line: string, set: Attack["set"]): Attack["set"] => async (repository) => {
  await set(repository);
  await Deno.writeTextFile(`${repository.workspace}/.gitattributes`, `${line}\n`, { append: true });
};

/** Changed without a change of its size, so that only its content tells. */
async function touched({ write, git }: TestRepository, ...args: readonly string[]): Promise<void> {
  await write("a.txt", "ONE\ntwo\nthree\n");
  await git(...args);
}

const HOOKS = [
  "pre-commit",
  "prepare-commit-msg",
  "commit-msg",
  "post-commit",
  "post-checkout",
  "post-index-change",
  "reference-transaction",
  "post-rewrite",
];

async function hooks(repository: TestRepository, folder: string): Promise<void> {
  const program = await evil(repository);
  for (const name of HOOKS) await repository.write(`${folder}/${name}`, `#!/bin/sh\n${program}\n`, { mode: 0o755 });
}

/** A commit whose file is not there, to be had from a remote. */
const lazily =
  (url: string, values: (program: string) => Readonly<Record<string, string>>): Attack["set"] => async (repository) => {
    const { git, workspace } = repository;
    await settings("", (program) => ({
      "core.repositoryFormatVersion": "1",
      "extensions.partialClone": "origin",
      "remote.origin.url": url,
      "remote.origin.promisor": "true",
      ...values(program),
    }), { filter: false })(repository);
    const hash = (await git("rev-parse", "HEAD:a.txt")).trim();
    await Deno.remove(`${workspace}/.git/objects/${hash.slice(0, 2)}/${hash.slice(2)}`);
  };

/** Fails for the user too once it has run. */
const fails = (...args: readonly string[]): Attack["obey"] => ({ git }) => git(...args).catch(() => {});

async function submodule(repository: TestRepository, key: string): Promise<void> {
  const { git, workspace } = repository;
  const program = await evil(repository);
  await git("init", "-q", "sub");
  await git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "inner");
  await git("add", "sub");
  await git("commit", "-q", "-m", "with a submodule");
  await Deno.writeTextFile(`${workspace}/sub/b.txt`, "x\n");
  await git("-C", "sub", "config", key, program);
}

export const ATTACKS: readonly Attack[] = [
  { name: "core.fsmonitor", set: settings("core", (fsmonitor) => ({ fsmonitor })), obey: ({ git }) => git("status") },
  {
    name: "hooks in .git/hooks",
    set: (repository) => hooks(repository, ".git/hooks"),
    obey: ({ git }) => git("commit", "--allow-empty", "-m", "x"),
  },
  {
    name: "hooks in core.hooksPath",
    set: async (repository) => {
      await hooks(repository, "evil-hooks");
      await repository.git("config", "core.hooksPath", "evil-hooks");
    },
    obey: ({ git }) => git("commit", "--allow-empty", "-m", "x"),
  },
  {
    name: "a clean filter",
    set: attributes("*.txt filter=evil", settings("filter.evil", (clean) => ({ clean }))),
    obey: (repository) => touched(repository, "status"),
  },
  {
    name: "a required clean filter whose name holds a =",
    set: attributes("*.txt filter=a=b", settings("filter.a=b", (clean) => ({ clean, required: "true" }))),
    obey: (repository) => touched(repository, "add", "a.txt"),
  },
  {
    name: "a filter that is a process",
    set: attributes("*.txt filter=evil", settings("filter.evil", (process) => ({ process }))),
    obey: (repository) => touched(repository, "add", "a.txt").catch(() => {}),
  },
  {
    name: "a smudge filter",
    set: attributes("*.txt filter=evil", settings("filter.evil", (smudge) => ({ smudge }))),
    obey: async ({ git, workspace }) => {
      await Deno.remove(`${workspace}/a.txt`);
      await git("checkout", "--", "a.txt");
    },
  },
  {
    name: "a filter in an included file",
    set: attributes("*.txt filter=evil", async (repository) => {
      const program = await evil(repository);
      await repository.write("evil.conf", `[filter "evil"]\n\tclean = ${program}\n`);
      await repository.git("config", "include.path", "../evil.conf");
    }),
    obey: (repository) => touched(repository, "status"),
  },
  {
    name: "a filter in a section written on one line",
    set: attributes("*.txt filter=evil", async (repository) => {
      const program = await evil(repository);
      const path = `${repository.workspace}/.git/config`;
      await Deno.writeTextFile(path, `\n[FILTER "evil"] clean = ${program}`, { append: true });
    }),
    obey: (repository) => touched(repository, "status"),
  },
  {
    name: "a filter in the settings of the worktree",
    set: attributes("*.txt filter=evil", async (repository) => {
      const program = await evil(repository);
      await repository.git("config", "core.repositoryFormatVersion", "1");
      await repository.git("config", "extensions.worktreeConfig", "true");
      await repository.write(".git/config.worktree", `[filter "evil"]\n\tclean = ${program}\n`);
    }),
    obey: (repository) => touched(repository, "status"),
  },
  {
    name: "diff.<name>.command",
    set: attributes("*.txt diff=evil", settings("diff.evil", (command) => ({ command }))),
    obey: (repository) => touched(repository, "diff"),
  },
  {
    name: "diff.<name>.textconv",
    set: attributes("*.txt diff=evil", settings("diff.evil", (textconv) => ({ textconv }))),
    obey: ({ git }) => git("show", "HEAD"),
  },
  {
    name: "diff.<name>.textconv in blame",
    set: attributes("*.txt diff=evil", settings("diff.evil", (textconv) => ({ textconv }))),
    obey: ({ git }) => git("blame", "a.txt"),
  },
  {
    name: "diff.external",
    set: settings("diff", (external) => ({ external })),
    obey: (repository) => touched(repository, "diff"),
  },
  {
    name: "gpg.program at a commit",
    set: settings("", (program) => ({ "gpg.program": program, "commit.gpgSign": "true" })),
    obey: fails("commit", "--allow-empty", "-m", "x"),
  },
  {
    name: "gpg.ssh.program at a commit",
    set: settings("", (program) => ({
      "gpg.format": "ssh",
      "gpg.ssh.program": program,
      "gpg.ssh.defaultKeyCommand": program,
      "commit.gpgSign": "true",
    })),
    obey: fails("commit", "--allow-empty", "-m", "x"),
  },
  {
    name: "gpg.program at a signature that is shown",
    set: async (repository) => {
      const { git, write } = repository;
      await settings("", (program) => ({ "gpg.program": program, "log.showSignature": "true" }))(repository);
      const [head = "", ...message] = (await git("cat-file", "commit", "HEAD")).split("\n\n");
      const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
      await write(".git/signed", `${head}\n${signature}\n\n${message.join("\n\n")}`);
      const hash = (await git("hash-object", "-t", "commit", "-w", ".git/signed")).trim();
      await git("update-ref", "refs/heads/main", hash);
    },
    obey: fails("log"),
  },
  {
    name: "core.editor",
    set: settings("core", (editor) => ({ editor })),
    obey: fails("commit", "--allow-empty"),
  },
  {
    name: "an alias",
    set: settings("alias", (program) => ({ evil: `!${program}`, status: `!${program}`, log: `!${program}` })),
    obey: ({ git }) => git("evil"),
  },
  {
    name: "a remote's uploadpack, for a file that is to be fetched",
    set: lazily("file:///nowhere", (program) => ({ "remote.origin.uploadpack": program })),
    obey: fails("show", "HEAD:a.txt"),
  },
  {
    name: "core.sshCommand, for a file that is to be fetched",
    set: lazily("ssh://nowhere/x", (program) => ({ "core.sshCommand": program })),
    obey: fails("show", "HEAD:a.txt"),
  },
  {
    name: "core.sshCommand where the repository allows every protocol",
    set: lazily("ssh://nowhere/x", (program) => ({
      "core.sshCommand": program,
      "protocol.allow": "always",
      "protocol.ssh.allow": "always",
    })),
    obey: fails("show", "HEAD:a.txt"),
  },
  {
    name: "core.fsmonitor of a submodule",
    set: (repository) => submodule(repository, "core.fsmonitor"),
    obey: ({ git }) => git("status"),
  },
  {
    name: "core.fsmonitor of a submodule, by diff",
    set: async (repository) => {
      await submodule(repository, "core.fsmonitor");
      await repository.git("config", "diff.submodule", "diff");
    },
    obey: ({ git }) => git("diff"),
  },
];
