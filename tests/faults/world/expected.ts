import type { Finding } from "./trial.ts";
import { tokenOf } from "./token_model.ts";

export interface View {
  readonly log: readonly string[];
  readonly last: string | null;
  readonly size: number;
  readonly queries: readonly SeenQuery[];
}

export interface SeenQuery {
  readonly queryId: string;
  readonly text: string;
  readonly running: boolean;
  readonly status: string;
  readonly reason: string;
  readonly iterations: number;
}

export interface Turn {
  readonly token: string;
  readonly parts: number;
  /** Turns of one group were sent at once, so any order among them is right. */
  readonly group: number;
  /** The answer; null for an interrupted turn, which has whole iterations or none. */
  answer: string | null;
  /** The entries at the first look, which must stay. */
  kept: readonly string[] | null;
  broken?: boolean;
}

/** The expected content of a branch, by the results that its clients received. */
export class Expected {
  readonly turns: Turn[];
  readonly refused = new Set<string>();
  readonly inherited: number;

  constructor(readonly id: string, turns: readonly Turn[] = []) {
    this.turns = turns.map((turn) => ({ ...turn }));
    this.inherited = turns.length;
  }

  fork(id: string, token: string): Expected {
    return new Expected(id, this.turns.slice(0, this.turns.findIndex((turn) => turn.token === token) + 1));
  }

  /** Returns every difference between a view and the expectation. The view is then expected to stay. */
  compare(view: View): Finding[] {
    const first = (token: string): number => {
      const at = view.log.findIndex((entry) => entry.startsWith(`${token}.`));
      return at === -1 ? view.log.length : at;
    };
    const turns = this.turns.toSorted((a, b) => a.group - b.group || first(a.token) - first(b.token));
    const findings: Finding[] = [];
    let at = 0;
    for (const turn of turns) {
      const from = at;
      while (view.log[at]?.startsWith(`${turn.token}.`)) at++;
      const queries = view.queries.filter(({ text }) => tokenOf(text) === turn.token);
      const seen = { entries: view.log.slice(from, at), size: at, queries };
      const entries = entryFindings(turn, seen);
      const found = entries.length > 0 ? entries : queryFindings(turn, seen);
      if (!turn.broken) findings.push(...found);
      turn.broken ||= found.length > 0;
      turn.kept = seen.entries;
    }
    this.turns.splice(0, Infinity, ...turns);
    return [...findings, ...this.#rest(view, at), ...headFindings(view)];
  }

  #rest({ log, queries }: View, from: number): Finding[] {
    const stray = log.slice(from).map((entry): Finding => {
      const refused = this.refused.has(entry.split(".")[0] ?? "");
      return {
        word: refused ? "unclear" : "twice",
        what: `${entry} stands where nothing is${refused ? ": refused" : ""}`,
      };
    });
    const begun = queries.filter(({ text }) => this.refused.has(tokenOf(text) ?? ""));
    return [
      ...stray,
      ...begun.map((one): Finding => {
        return { word: "unclear", what: `${one.text} was refused, but is listed as ${one.status} (${one.reason})` };
      }),
    ];
  }
}

interface Seen {
  readonly entries: readonly string[];
  readonly size: number;
  readonly queries: readonly SeenQuery[];
}

const partOf = (entry: string): number => Number(/\.(\d+)-/.exec(entry)?.[1]);

function entryFindings({ token, parts, answer, kept }: Turn, { entries, size }: Seen): Finding[] {
  const shown = `${token} has [${entries.join(" ")}]`;
  if (answer !== null && entries.length === 0) {
    return [{ word: "lost", what: `${token} was answered "${answer}": ${shown}` }];
  }
  const numbers = entries.map(partOf);
  if (new Set(numbers).size < numbers.length) return [{ word: "twice", what: shown }];
  if (numbers.some((number, n) => number !== n + 1)) return [{ word: "half", what: shown }];
  if (answer !== null && entries.length < parts) return [{ word: "half", what: `${token} was answered: ${shown}` }];
  const stored = `${entries.at(-1)} of ${size}`;
  if (answer !== null && answer !== stored && kept === null) {
    return [{ word: "unclear", what: `${token} was answered "${answer}", but what is stored is "${stored}"` }];
  }
  if (kept === null || kept.join() === entries.join()) return [];
  const gone = kept.some((entry) => !entries.includes(entry));
  return [{ word: gone ? "lost" : "twice", what: `${shown}, before it had [${kept.join(" ")}]` }];
}

function queryFindings({ token, parts, answer }: Turn, { entries, queries }: Seen): Finding[] {
  const shown = queries.map(({ status, reason, iterations }) => `${status} (${reason}) after ${iterations}`).join(", ");
  const what = `${token} is listed as ${shown || "nothing"}, and has [${entries.join(" ")}]`;
  const done = queries.filter(({ status }) => status === "done").length;
  if (done > 1) return [{ word: "twice", what }];
  if (queries.some(({ running }) => running)) return [{ word: "unclear", what: `${what}, though nothing runs` }];
  if (answer !== null && done === 0) return [{ word: "unclear", what: `${token} was answered, but ${what}` }];
  const ended = queries.reduce((sum, { iterations }) => sum + iterations, 0);
  // A cancelled iteration keeps the effects of its blocks.
  if (queries.at(-1)?.reason === "cancelled" && entries.length === ended + 1) return [];
  if ((done === 1) !== (entries.length === parts)) return [{ word: "half", what }];
  // The answer of a continued turn may be an iteration of its own.
  return ended === entries.length || queries.length > 1 ? [] : [{ word: "half", what }];
}

function headFindings({ log, last, size }: View): Finding[] {
  if (last === (log.at(-1) ?? null) && size === log.length) return [];
  return [{ word: "half", what: `log ends with ${log.at(-1)} of ${log.length}, last is ${last}, size ${size}` }];
}
