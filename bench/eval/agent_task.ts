export type Files = Readonly<Record<string, string>>;

export const FAMILIES = ["puzzles", "files", "fixing", "long", "series", "counting", "npm"] as const;
export type Family = typeof FAMILIES[number];

export interface Outcome {
  readonly answer: string;
  readonly files?: Files;
}

export interface Seen {
  readonly answer: string;
  readonly workspace: string;
}

export interface Expectation {
  /** Returns "" for a right outcome, and otherwise the reason. */
  readonly check: (seen: Seen) => string | Promise<string>;
  /** The credit, from 0 to 1, is for an outcome that `check` refuses. */
  readonly credit?: (seen: Seen) => number;
  readonly right: Outcome;
}

export interface Turn {
  readonly request: string;
  readonly expects: Expectation;
  readonly wrong: readonly Outcome[];
  readonly script: readonly string[];
}

export interface MadeTask {
  readonly files: Files;
  readonly context: string;
  readonly turns: readonly Turn[];
}

export interface AgentTask {
  readonly id: string;
  readonly family: Family;
  readonly make: () => MadeTask;
}

export interface TurnParts {
  readonly request: string;
  readonly expects: Expectation;
  /** A string is an answer with an unchanged workspace. */
  readonly wrong: readonly (string | Outcome)[];
  readonly script: string | readonly string[];
}

export interface SeriesParts {
  readonly files?: Files;
  readonly context?: string;
  readonly turns: readonly TurnParts[];
}

export type TaskParts = Omit<SeriesParts, "turns"> & TurnParts;

export function task(id: `${Family}/${string}`, make: () => TaskParts | SeriesParts): AgentTask {
  const family = FAMILIES.find((one) => id.startsWith(`${one}/`));
  if (!family) throw new TypeError(`Cannot add task ${id}: its family is unknown`);
  return {
    id,
    family,
    make: () => {
      const made = make();
      const turns = "turns" in made ? made.turns : [made];
      return { files: made.files ?? {}, context: made.context ?? "", turns: turns.map(turnOf) };
    },
  };
}

function turnOf({ request, expects, wrong, script }: TurnParts): Turn {
  return {
    request,
    expects,
    wrong: wrong.map((one) => typeof one === "string" ? { answer: one } : one),
    script: typeof script === "string" ? [script] : script,
  };
}
