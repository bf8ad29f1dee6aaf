import type { EnvironmentView } from "@vis/extension";
import { Git } from "../program/git.ts";
import { plainReason } from "../program/git_error.ts";
import { checkedRef, refError } from "../program/refs.ts";
import { commitHash, committer } from "./state.ts";

export interface TagOptions {
  /** HEAD by default. */
  readonly at?: string;
  /** Makes a tag with a message of its own, by whoever commits. */
  readonly message?: string;
  readonly delete?: boolean;
}

export interface Tags {
  readonly tags: readonly {
    readonly name: string;
    readonly commit: string;
    readonly date: Date;
    readonly message: string;
  }[];
  readonly left: number;
}

const LIMIT = 200;
const FIELDS = ["refname:short", "objectname", "*objectname", "creatordate:unix", "contents:subject"];

/** `git.tag`: all tags, newest first; with a name, makes or deletes one before. */
export async function tag(env: EnvironmentView, name?: string, options: TagOptions = {}): Promise<Tags> {
  const { at = "HEAD", message, delete: remove = false } = options;
  if (name !== undefined) checkedRef(name);
  else if (Object.keys(options).length > 0) throw new TypeError("Cannot change a tag without its name");
  if (remove && (options.at !== undefined || message !== undefined)) {
    throw new TypeError("Cannot delete a tag and make it");
  }
  const git = await Git.of(env, ["tag", name, options]);
  if (name !== undefined && remove) await removeTag(git, name);
  else if (name !== undefined) await makeTag(git, { name, at: checkedRef(at), message });
  return await tagsOf(git);
}

async function makeTag(
  git: Git,
  { name, at, message }: { readonly name: string; readonly at: string; readonly message: string | undefined },
): Promise<void> {
  const cannot = `Cannot make tag ${name}`;
  if (await isTag(git, name)) throw new Error(`${cannot}: it already exists`);
  const hash = await commitHash(git, { ref: at, cannot });
  const args = message === undefined
    ? ["tag", "--no-sign", "--", name, hash]
    : ["tag", "--no-sign", "--annotate", "--cleanup=whitespace", "--file=-", "--", name, hash];
  const { code, stderr } = await git.run(args, {
    changes: "repository",
    ...(message === undefined ? {} : { input: message, env: await committer(git) }),
  });
  if (code !== 0) throw new Error(`${cannot}: ${plainReason(stderr)}`);
}

async function removeTag(git: Git, name: string): Promise<void> {
  const cannot = `Cannot delete tag ${name}`;
  if (!await isTag(git, name)) throw await refError(git, { cannot, stderr: null, refs: [name] });
  const { code, stderr } = await git.run(["tag", "--delete", "--", name], { changes: "repository" });
  if (code !== 0) throw new Error(`${cannot}: ${plainReason(stderr)}`);
}

async function isTag(git: Git, name: string): Promise<boolean> {
  return (await git.run(["show-ref", "--verify", "--quiet", `refs/tags/${name}`])).code === 0;
}

async function tagsOf(git: Git): Promise<Tags> {
  const format = FIELDS.map((field) => `%(${field})`).join("%00");
  const { code, stdout, stderr } = await git.run([
    "for-each-ref",
    "--sort=-creatordate",
    `--format=${format}`,
    "refs/tags",
  ]);
  if (code !== 0) throw new Error(`Cannot list tags: ${plainReason(stderr)}`);
  const lines = stdout.split("\n").filter((line) => line !== "");
  const tags = lines.slice(0, LIMIT).map((line) => {
    const [name = "", hash = "", target = "", date = "", message = ""] = line.split("\0");
    return { name, commit: target || hash, date: new Date(Number(date) * 1000), message };
  });
  return { tags, left: Math.max(0, lines.length - LIMIT) };
}
