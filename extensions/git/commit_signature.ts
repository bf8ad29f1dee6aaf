import { homedir } from "node:os";
import { join } from "node:path";
import { advised, type GitSetting, isSha256, isWithin, smallTextFile, userGitSettings } from "@vis/extension";
import { Git, type GitResult, plainReason, spawnOf } from "./git.ts";
import { mirrorFolder, refuseHere, settingText, USER_ENVIRONMENT } from "./remotes.ts";

const UNSIGNED = "{sign: false} commits without a signature";
const CANNOT = "Cannot sign the commit";
/** The user may have to touch a key or to type a passphrase. */
const TIMEOUT_MS = 300_000;
const LOOK_MS = 50, MAX_BYTES = 1 << 20;
const KEYS: readonly string[] = ["program", "signingkey", "defaultkeycommand"];
const LINKED = [".gnupg", ".gnupg/gpg.conf", ".gnupg/gpg-agent.conf", ".ssh"];

/** Git starts this program behind the wall instead of gpg. It hands the text of the commit to Vis, and waits. */
const SIGNER = `#!/bin/sh
cd "$(dirname "$0")" && cat > new && mv new payload || exit 1
until [ -e signature ] || [ -e refused ]; do sleep 0.1; done
cat signature && printf '\n[GNUPG:] SIG_CREATED \n' >&2
`;

/** Rejects with Error if a command could have changed the program or key of the signature. */
export async function refuseUnsafeKeys(git: Git): Promise<void> {
  const { env: { root, workspace } } = git, top = root ?? workspace, home = homedir();
  await refuseHere(git, CANNOT, KEYS).catch((error: unknown) => {
    throw error instanceof Error ? advised(error, UNSIGNED) : error;
  });
  for (const name of LINKED) {
    const path = join(home, name), real = await Deno.realPath(path).catch(() => path);
    if (!isWithin(real, top)) continue;
    throw advised(
      new Error(`${CANNOT}: ~/${name} leads into ${top}, which commands can change`),
      "ask the user to commit",
    );
  }
}

export interface SigningArguments {
  readonly settings: readonly string[];
  readonly flags: readonly string[];
  /** Hooks must not change this program, nor replace its folder. */
  readonly keep: readonly string[];
}

interface Expected {
  readonly committer: string;
  readonly authors: readonly string[];
  readonly parents: readonly string[];
}

/** Hooks could hand over another text, so Vis signs only a commit that this call can make. */
async function expectedOf(
  git: Git,
  { author, amend }: { readonly author: Readonly<Record<string, string>>; readonly amend: boolean },
): Promise<Expected> {
  const person = (role: string): string => `${author[`GIT_${role}_NAME`]} <${author[`GIT_${role}_EMAIL`]}>`;
  const shown = async (ref: string): Promise<readonly string[]> => {
    const { code, stdout } = await git.run(["log", "--max-count=1", "--format=%an <%ae>%n%H%n%P", ref, "--"]);
    return code === 0 ? stdout.trimEnd().split("\n") : [];
  };
  const [headAuthor = "", head = "", before = ""] = await shown("HEAD");
  const [pickAuthor = ""] = await shown("CHERRY_PICK_HEAD");
  const merged = await smallTextFile(join(git.repository.gitDir, "MERGE_HEAD")) ?? "";
  return {
    committer: person("COMMITTER"),
    authors: [person("AUTHOR"), pickAuthor, amend ? headAuthor : ""].filter((one) => one !== ""),
    parents: [amend ? before : head, merged].join(" ").split(/\s+/).filter((one) => one !== ""),
  };
}

/** Git itself makes the signed commit, so a commit without a signature never exists. */
export async function withSignature<Result extends GitResult>(
  git: Git,
  planned: { readonly author: Readonly<Record<string, string>>; readonly amend: boolean },
  commit: (given: SigningArguments) => Promise<Result>,
): Promise<Result> {
  const expected = await expectedOf(git, planned);
  const { gitDir, workspace } = git.repository;
  const folder = await Deno.makeTempDir({ dir: gitDir, prefix: "vis-sign-" });
  const over = new AbortController(),
    stopped = AbortSignal.any([over.signal, ...git.env.signal ? [git.env.signal] : []]);
  let fault: unknown = null, hasSigned = false;
  const sign = async (): Promise<void> => {
    const payload = await payloadIn(folder, stopped);
    if (payload === null) return;
    try {
      const text = await signatureOf(git, payload, expected);
      hasSigned = true;
      await Deno.writeTextFile(join(folder, "signed"), text, { createNew: true, mode: 0o644 });
      await Deno.rename(join(folder, "signed"), join(folder, "signature"));
    } catch (error) {
      fault = error;
      await Deno.writeTextFile(join(folder, "refused"), "", { createNew: true }).catch(() => {});
    }
  };
  try {
    const signer = join(folder, "sign");
    await Deno.writeTextFile(signer, SIGNER, { createNew: true, mode: 0o755 });
    const { uid, gid } = await Deno.stat(workspace);
    if (Deno.uid() === 0) await Deno.chown(folder, uid, gid); // Commands of root run as the owner of the workspace.
    const programs = ["gpg.program", "gpg.openpgp.program"].map((name) => `${name}=${signer}`);
    const settings = ["gpg.format=openpgp", "i18n.commitEncoding=UTF-8", ...programs].flatMap((text) => ["-c", text]);
    const signing = sign();
    let result: Result | null = null;
    try {
      result = await commit({ settings, flags: ["--gpg-sign"], keep: [signer] });
    } finally {
      over.abort();
      await signing;
      if (hasSigned && result?.code !== 0) git.env.warn?.("Your key signed a commit that git.commit did not make");
    }
    if (result.code !== 0 && fault !== null) throw fault;
    return result;
  } finally {
    await Deno.remove(folder, { recursive: true }).catch(() => {});
  }
}

async function payloadIn(folder: string, over: AbortSignal): Promise<string | null> {
  while (!over.aborted) {
    const text = await smallTextFile(join(folder, "payload"), { most: MAX_BYTES });
    if (text !== null) return text;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return null;
}

const PERSON = /^(.*) <(.*)> (\d+ [+-]\d{4})$/;

/** The user's git signs in an empty repository, which has only the tree and the parents of the commit. */
async function signatureOf(
  git: Git,
  payload: string,
  expected: Expected,
): Promise<string> {
  const { env, repository: { gitDir } } = git;
  const [head = "", ...rest] = payload.split("\n\n"), message = rest.join("\n\n");
  const headers = head.split("\n").map((line) => [line.split(" ", 1)[0] ?? "", line.slice(line.indexOf(" ") + 1)]);
  const valuesOf = (name: string): readonly string[] =>
    headers.flatMap(([key, value = ""]) => key === name ? [value] : []);
  const other = headers.find(([name = ""]) => !["tree", "parent", "author", "committer"].includes(name))?.[0];
  if (other !== undefined || payload.includes("\ufffd")) {
    const cause = other === undefined ? "its text is not UTF-8" : `it has the header ${other}`;
    throw advised(new Error(`${CANNOT}: ${cause}`), "ask the user to commit");
  }
  const people = Object.fromEntries(
    (["author", "committer"] as const).flatMap((role) => {
      const [, name = "", email = "", date = ""] = PERSON.exec(valuesOf(role)[0] ?? "") ?? [];
      const prefix = `GIT_${role.toUpperCase()}`;
      return [[`${prefix}_NAME`, name], [`${prefix}_EMAIL`, email], [`${prefix}_DATE`, `@${date}`]];
    }),
  );
  const person = (role: string): string => `${people[`GIT_${role}_NAME`]} <${people[`GIT_${role}_EMAIL`]}>`;
  const [tree = ""] = valuesOf("tree"), parents = valuesOf("parent");
  const isExpected = person("COMMITTER") === expected.committer && expected.authors.includes(person("AUTHOR")) &&
    parents.join(" ") === expected.parents.join(" ") && /^[0-9a-f]{40,64}$/.test(tree);
  if (!isExpected) {
    throw new Error(`${CANNOT}: a hook gave the text of another commit, by ${person("AUTHOR")}, to sign`);
  }
  const pack: Uint8Array[] = [];
  const packed = await git.run(["pack-objects", "--stdout", "--quiet"], {
    input: [tree, ...parents].map((hash) => `${hash}\n`).join(""),
    take: (chunk) => pack.push(chunk),
  });
  if (packed.code !== 0) throw new Error(`${CANNOT}: ${plainReason(packed.stderr)}`);
  const folder = await mirrorFolder(env, CANNOT);
  try {
    await makeMirror(folder, await userGitSettings({ home: homedir(), gitDir }), isSha256(git.settings));
    const run = async (args: readonly string[], input: string | ReadableStream<Uint8Array<ArrayBuffer>> = "") => {
      const { code, stdout, stderr, timedOut } = await spawnOf(env)(
        ["git", `--git-dir=${folder}`, "--no-pager", ...args],
        {
          asUser: true,
          timeoutMs: TIMEOUT_MS,
          maxBytes: 2 * MAX_BYTES,
          env: { ...USER_ENVIRONMENT, ...people },
          input,
        },
      );
      env.signal?.throwIfAborted();
      if (code === 0) return stdout;
      const why = timedOut ? `the signature took longer than ${TIMEOUT_MS / 1000} s, the limit` : plainReason(stderr);
      throw advised(new Error(`${CANNOT}: ${why}`), "ask the user to unlock the key, for example by a signed commit");
    };
    await run(["unpack-objects", "-q"], new Blob(pack as Uint8Array<ArrayBuffer>[]).stream());
    const made = await run(
      ["commit-tree", "-S", ...parents.flatMap((hash) => ["-p", hash]), "-F", "-", tree],
      message,
    );
    const signed = await run(["cat-file", "commit", made.trim()]);
    const [, signature = ""] = /^gpgsig(?:-sha256)? (.*(?:\n .*)*)\n/m.exec(signed.split("\n\n", 1)[0] + "\n") ?? [];
    const unsigned = signed.replace(/^gpgsig(?:-sha256)? .*(?:\n .*)*\n/m, "");
    if (signature === "" || unsigned !== payload) {
      throw advised(
        new Error(`${CANNOT}: the signed text differs from the text of the commit`),
        "ask the user to commit",
      );
    }
    return `${signature.replaceAll("\n ", "\n")}\n`;
  } finally {
    await Deno.remove(folder, { recursive: true }).catch(() => {});
  }
}

async function makeMirror(folder: string, users: readonly GitSetting[], isSha: boolean): Promise<void> {
  const own: readonly (readonly [section: string, key: string, value: string])[] = [
    ["core", "bare", "true"],
    ["core", "hooksPath", "/dev/null"],
    ["core", "fsmonitor", "false"],
    ["core", "repositoryFormatVersion", isSha ? "1" : "0"],
    ["i18n", "commitEncoding", "UTF-8"],
    ...isSha ? [["extensions", "objectFormat", "sha256"] as const] : [],
  ];
  const settings: readonly GitSetting[] = [
    // Conditional settings of the user count for the repository, not for this folder.
    ...users.filter(({ section, key }) => section === "gpg" || section === "user" && key === "signingkey"),
    ...own.map(([section, key, value]) => ({ section, subsection: null, key, value })),
  ];
  for (const name of ["objects", "refs"]) await Deno.mkdir(join(folder, name));
  await Deno.writeTextFile(join(folder, "HEAD"), "ref: refs/heads/vis\n");
  await Deno.writeTextFile(join(folder, "config"), settings.map(settingText).join(""));
}
