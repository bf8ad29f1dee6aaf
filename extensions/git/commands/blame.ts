import type { EnvironmentView } from "@vis/extension";
import { Git } from "../program/git.ts";
import { gitSays } from "../program/git_error.ts";
import { missingFile } from "./missing_file.ts";
import { pathArguments } from "../program/paths.ts";
import { FileLines, type KeptLine, noteGuesses } from "../output/file_text.ts";
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

/** `git.blame` */
export async function blame(
  env: EnvironmentView,
  path: string,
  { ref, from = 1, to }: BlameOptions = {},
): Promise<{ readonly origins: readonly Origin[]; readonly left: number }> {
  const where = ref === undefined ? [] : [checkedRef(ref)];
  const git = await Git.of(env);
  const report = new BlameReport(path);
  const reader = new RecordReader((line, bytes) => report.line(line, bytes));
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
  const guess = report.decode();
  if (guess !== null) noteGuesses(env, [[path, guess]]);
  return report.result;
}

class BlameReport {
  readonly #path: string;
  readonly #commits = new Map<string, CommitFacts>();
  readonly #origins: (Omit<Origin, "text" | "cut" | "to"> & { to: number; readonly lines: KeptLine[] })[] = [];
  readonly #texts = new FileLines();
  #hash = "";
  #line = 0;
  #kept = 0;
  #left = 0;

  constructor(path: string) {
    this.#path = path;
  }

  get result(): { readonly origins: readonly Origin[]; readonly left: number } {
    const origins = this.#origins.map(({ lines, ...origin }) => ({
      ...origin,
      text: lines.map(({ text }) => text).join("\n"),
      ...(lines.some(({ isCut }) => isCut) ? { cut: true as const } : {}),
    }));
    return { origins, left: this.#left };
  }

  /** Decodes what is not UTF-8, once all lines were read; returns the encoding that was guessed. */
  decode(): string | null {
    return this.#texts.decode();
  }

  line(line: string, bytes: Uint8Array): void {
    if (line.startsWith("\t")) return this.#text(bytes.subarray(1));
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

  #text(bytes: Uint8Array): void {
    if (this.#kept >= MAX_LINES) return void this.#left++;
    this.#kept++;
    const hash = /^0+$/.test(this.#hash) ? null : this.#hash;
    const facts = this.#commits.get(this.#hash);
    const last = this.#origins.at(-1);
    if (last?.hash === hash && last.to === this.#line - 1) {
      last.to = this.#line;
      this.#keep(last.lines, bytes);
    } else if (facts) {
      const { path, ...said } = facts;
      const place = { from: this.#line, to: this.#line, hash };
      const lines: KeptLine[] = [];
      this.#origins.push({ ...place, ...said, ...(path === this.#path ? {} : { path }), lines });
      this.#keep(lines, bytes);
    }
  }

  #keep(lines: KeptLine[], bytes: Uint8Array): void {
    const at = lines.length;
    this.#texts.add(bytes, (line) => lines[at] = line);
  }
}
