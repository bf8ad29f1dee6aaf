import type { TestRepository } from "./_repository.ts";

export interface Attack {
  readonly name: string;
  readonly set: (repository: TestRepository) => Promise<unknown>;
  readonly obey: (repository: TestRepository) => Promise<unknown>;
}

function marks({ root, workspace, commonDir }: TestRepository): readonly string[] {
  return [`${root}/outside`, workspace, commonDir].map((folder) => `${folder.slice(root.length + 1)}/marker`);
}

export function ran(repository: TestRepository): boolean {
  return marks(repository).some(repository.exists);
}

export async function clear(repository: TestRepository): Promise<void> {
  const { root, exists } = repository;
  for (const path of marks(repository)) if (exists(path)) await Deno.remove(`${root}/${path}`);
}

/** Makes a program that leaves marks in every place it can, and passes its input on if it is a filter. */
async function evil(repository: TestRepository, { filter = true } = {}): Promise<string> {
  const { root, write } = repository;
  const leaves = marks(repository).map((path) => `echo x > ${root}/${path}`).join("; ");
  await write(".evil.sh", `#!/bin/sh\n{ ${leaves}; } 2>/dev/null\n${filter ? "cat" : "exit 1"}\n`, { mode: 0o755 });
  return `${repository.workspace}/.evil.sh`;
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

/** Changes a file without changing its size, so that only its content shows the change. */
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
  "pre-rebase",
  "pre-merge-commit",
  "post-merge",
  "pre-auto-gc",
];

async function hooks(repository: TestRepository, folder: string, names = HOOKS): Promise<void> {
  const program = await evil(repository);
  for (const name of names) await repository.write(`${folder}/${name}`, `#!/bin/sh\n${program}\n`, { mode: 0o755 });
}

/** Makes a branch `side` that merges with `main` in `a.txt`, and `clash`, which conflicts. */
export async function prepare({ git, write }: TestRepository): Promise<void> {
  const branch = async (name: string, text: string): Promise<void> => {
    await git("switch", "-q", "-c", name, "main");
    await write("a.txt", text);
    await git("commit", "-q", "-a", "-m", name);
    await git("switch", "-q", "main");
  };
  await branch("side", "ONE\ntwo\nthree\n");
  await branch("clash", "one\ntwo\n3\n");
  await write("a.txt", "one\ntwo\nTHREE\n");
  await git("commit", "-q", "-a", "-m", "main");
}

const prepared = (...args: readonly string[]): Attack["obey"] => async (repository) => {
  await prepare(repository);
  await repository.git(...args).catch(() => {});
};

/** The file of this commit is missing, and a remote has it. */
const lazily =
  (url: string, values: (program: string) => Readonly<Record<string, string>>): Attack["set"] => async (repository) => {
    const { git, commonDir } = repository;
    await settings("", (program) => ({
      "core.repositoryFormatVersion": "1",
      "extensions.partialClone": "origin",
      "remote.origin.url": url,
      "remote.origin.promisor": "true",
      ...values(program),
    }), { filter: false })(repository);
    const hash = (await git("rev-parse", "HEAD:a.txt")).trim();
    await Deno.remove(`${commonDir}/objects/${hash.slice(0, 2)}/${hash.slice(2)}`);
  };

/** The command fails for the user too, after the program has run. */
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

/** After these attacks, git does no other work, so they are not combined with others. */
export const TOO_MUCH = /to be fetched|every protocol|submodule/;

export const ATTACKS: readonly Attack[] = [
  { name: "core.fsmonitor", set: settings("core", (fsmonitor) => ({ fsmonitor })), obey: ({ git }) => git("status") },
  {
    name: "hooks in .git/hooks",
    set: (repository) => hooks(repository, `${repository.commonDir}/hooks`),
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
      await repository.git("config", "include.path", `${repository.workspace}/evil.conf`);
    }),
    obey: (repository) => touched(repository, "status"),
  },
  {
    name: "a filter in a section written on one line",
    set: attributes("*.txt filter=evil", async (repository) => {
      const program = await evil(repository);
      const path = `${repository.commonDir}/config`;
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
      const path = (await repository.git("rev-parse", "--git-path", "config.worktree")).trim();
      await repository.write(path, `[filter "evil"]\n\tclean = ${program}\n`);
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
      const { git, write, commonDir } = repository;
      await settings("", (program) => ({ "gpg.program": program, "log.showSignature": "true" }))(repository);
      const [head = "", ...message] = (await git("cat-file", "commit", "HEAD")).split("\n\n");
      const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
      await write(`${commonDir}/signed`, `${head}\n${signature}\n\n${message.join("\n\n")}`);
      const hash = (await git("hash-object", "-t", "commit", "-w", `${commonDir}/signed`)).trim();
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
  {
    name: "submodule.<name>.update",
    set: async (repository) => {
      await submodule(repository, "user.name");
      const { git, write, workspace } = repository;
      const program = await evil(repository);
      await write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n');
      for (
        const [key, value] of [["url", `${workspace}/sub`], ["active", "true"], ["update", `!${program}`]] as const
      ) {
        await git("config", `submodule.sub.${key}`, value);
      }
      await git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "newer");
    },
    obey: fails("submodule", "update"),
  },
  {
    name: "merge.<name>.driver",
    set: attributes("*.txt merge=evil", settings("merge.evil", (driver) => ({ driver }))),
    obey: prepared("merge", "side"),
  },
  {
    name: "merge.<name>.driver by merge.default",
    set: settings("merge", (driver) => ({ default: "evil", "evil.driver": driver })),
    obey: prepared("cherry-pick", "side"),
  },
  {
    name: "gpg.program by branch.<name>.mergeOptions",
    set: settings("", (program) => ({ "branch.main.mergeOptions": "-S", "gpg.program": program })),
    obey: prepared("merge", "side"),
  },
  {
    name: "a strategy in pull.twohead at a rebase",
    set: settings("", (program) => ({ "pull.twohead": "evil", "alias.merge-evil": `!${program}` })),
    obey: prepared("rebase", "side"),
  },
  {
    name: "the hook pre-rebase",
    set: (repository) => hooks(repository, `${repository.commonDir}/hooks`, ["pre-rebase"]),
    obey: prepared("rebase", "side"),
  },
  {
    name: "the hook post-merge",
    set: (repository) => hooks(repository, `${repository.commonDir}/hooks`, ["post-merge"]),
    obey: prepared("merge", "side"),
  },
  {
    name: "the hook pre-auto-gc, which gc.auto starts",
    set: async (repository) => {
      // Git estimates the number of objects from this folder.
      for (const name of ["1", "2", "3"]) {
        await repository.write(`${repository.commonDir}/objects/17/${name.repeat(38)}`, "");
      }
      await hooks(repository, `${repository.commonDir}/hooks`, ["pre-auto-gc"]);
      for (const [key, value] of [["gc.auto", "1"], ["gc.autoDetach", "false"]] as const) {
        await repository.git("config", key, value);
      }
    },
    obey: ({ git }) => git("commit", "--allow-empty", "-m", "x"),
  },
  {
    name: "sequence.editor",
    set: settings("sequence", (editor) => ({ editor })),
    obey: prepared("rebase", "-i", "side"),
  },
  {
    name: "core.editor at a tag",
    set: settings("core", (editor) => ({ editor })),
    obey: fails("tag", "-a", "v9"),
  },
  {
    name: "gpg.program at a tag",
    set: settings(
      "",
      (program) => ({ "gpg.program": program, "tag.gpgSign": "true", "tag.forceSignAnnotated": "true" }),
    ),
    obey: fails("tag", "-m", "x", "v9"),
  },
  {
    name: "gpg.program at a rebase",
    set: settings("", (program) => ({ "gpg.program": program, "commit.gpgSign": "true" })),
    obey: async (repository) => {
      await repository.git("config", "commit.gpgSign", "false");
      await prepare(repository);
      await repository.git("config", "commit.gpgSign", "true");
      await repository.git("rebase", "side").catch(() => {});
    },
  },
  {
    name: "mergetool.<name>.cmd",
    set: settings("", (program) => ({ "merge.tool": "evil", "mergetool.evil.cmd": program })),
    obey: async (repository) => {
      await prepared("merge", "clash")(repository);
      await repository.git("mergetool", "--no-prompt").catch(() => {});
    },
  },
  {
    name: "trailer.<name>.command",
    set: settings("trailer.evil", (command) => ({ command, key: "Evil" })),
    obey: ({ git }) => git("commit", "--allow-empty", "-m", "x", "--trailer", "Other: y"),
  },
  {
    name: "a filter in core.attributesFile",
    set: async (repository) => {
      await settings("filter.other", (clean) => ({ clean, smudge: clean }))(repository);
      await repository.write("evil-attributes", "*.txt filter=other\n");
      await repository.git("config", "core.attributesFile", `${repository.workspace}/evil-attributes`);
    },
    obey: (repository) => touched(repository, "add", "a.txt"),
  },
  {
    name: "a filter in .git/info/attributes",
    set: async (repository) => {
      await settings("filter.third", (clean) => ({ clean, smudge: clean }))(repository);
      await repository.write(`${repository.commonDir}/info/attributes`, "*.txt filter=third\n");
    },
    obey: (repository) => touched(repository, "add", "a.txt"),
  },
  {
    name: "a remote that is a program (ext::), for a file that is to be fetched",
    set: async (repository) => {
      const program = await evil(repository);
      await lazily(`ext::${program}`, () => ({ "protocol.ext.allow": "always" }))(repository);
    },
    obey: fails("show", "HEAD:a.txt"),
  },
];
