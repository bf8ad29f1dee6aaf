import type { EnvironmentView } from "@vis/extension";
import { Git } from "../program/git.ts";
import { gitSays } from "../program/git_error.ts";
import { missingFile } from "./missing_file.ts";
import { pathArguments } from "../program/paths.ts";
import { nameOf } from "../output/quoted_name.ts";
import { RecordReader } from "../output/record_reader.ts";
import { checkedRef, refError } from "../program/refs.ts";

export interface BlameOptions {
  readonly ref?: string;
  readonly from?: number;
  readonly to?: number;
}

/** Consecutive lines from one commit. */
export interface Origin {
  readonly from: number;
  readonly to: number;
  /** Null if not committed. */
  readonly hash: string | null;
  readonly author: string;
  readonly date: Date;
  readonly subject: string;
  /** The file's name in that commit, if it was different. */
  readonly path?: string;
  readonly text: string;
  /** Present if a line is longer than what `text` has of it. */
  readonly cut?: true;
}

interface CommitFacts {
  author: string;
  date: Date;
  subject: string;
  path: string;
}

const MAX_LINES = 2_000;
const MAX_LINE = 1_000;

/** `git.blame` */
export async function blame(
  env: EnvironmentView,
  path: string,
  { ref, from = 1, to }: BlameOptions = {},
): Promise<{ readonly origins: readonly Origin[]; readonly left: number }> {
  const where = ref === undefined ? [] : [checkedRef(ref)];
  const git = await Git.of(env);
  const report = new BlameReport(path);
  const reader = new RecordReader((line) => report.line(line));
  const range = from === 1 && to === undefined ? [] : [`-L${from},${to ?? ""}`];
  const { code, stderr } = await git.run(
    ["blame", "--porcelain", "--no-textconv", ...range, ...where, ...pathArguments(path)],
    { take: (chunk) => reader.push(chunk) },
  );
  reader.end();
  if (code !== 0) {
    const cannot = `Cannot say where ${path} is from`;
    if (gitSays("noPath", stderr)) {
      throw await missingFile(git, { cannot, path, ...(ref === undefined ? {} : { commit: ref }) });
    }
    throw await refError(git, { cannot, stderr, refs: where });
  }
  return report.result;
}

class BlameReport {
  readonly #path: string;
  readonly #commits = new Map<string, CommitFacts>();
  readonly #origins: (Origin & { to: number; cut?: true; readonly lines: string[] })[] = [];
  #hash = "";
  #line = 0;
  #kept = 0;
  #left = 0;

  constructor(path: string) {
    this.#path = path;
  }

  get result(): { readonly origins: readonly Origin[]; readonly left: number } {
    const origins = this.#origins.map(({ lines, ...origin }) => ({ ...origin, text: lines.join("\n") }));
    return { origins, left: this.#left };
  }

  line(line: string): void {
    if (line.startsWith("\t")) return this.#text(line.slice(1));
    const [, hash, at] = /^([0-9a-f]{40}|[0-9a-f]{64}) \d+ (\d+)/.exec(line) ?? [];
    if (hash !== undefined) {
      this.#hash = hash;
      this.#line = Number(at);
      if (!this.#commits.has(hash)) this.#commits.set(hash, { author: "", date: new Date(0), subject: "", path: "" });
      return;
    }
    const facts = this.#commits.get(this.#hash);
    if (!facts) return;
    const [key = "", ...words] = line.split(" ");
    const value = words.join(" ");
    if (key === "author") facts.author = value;
    else if (key === "author-time") facts.date = new Date(Number(value) * 1000);
    else if (key === "summary") facts.subject = value;
    else if (key === "filename") facts.path = nameOf(value);
  }

  #text(text: string): void {
    if (this.#kept >= MAX_LINES) return void this.#left++;
    this.#kept++;
    const line = text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}…` : text;
    const hash = /^0+$/.test(this.#hash) ? null : this.#hash;
    const facts = this.#commits.get(this.#hash);
    const last = this.#origins.at(-1);
    const cut = line === text ? {} : { cut: true as const };
    if (last?.hash === hash && last.to === this.#line - 1) {
      last.to = this.#line;
      last.lines.push(line);
      Object.assign(last, cut);
    } else if (facts) {
      const { path, ...said } = facts;
      const place = { from: this.#line, to: this.#line, hash };
      this.#origins.push({
        ...place,
        ...said,
        ...(path === this.#path ? {} : { path }),
        text: "",
        lines: [line],
        ...cut,
      });
    }
  }
}
