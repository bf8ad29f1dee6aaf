import type { z } from "zod";

/** What a setting can mean to Vis, marked on its type with `.meta({ … })`. */
export const SETTING_MARKS = ["project", "programs", "secrets", "offered"] as const;

/** The settings of one shipped extension, as far as the configuration needs to know them. */
export interface SettingsSection {
  readonly namespace: string;
  /** Its top-level name in the configuration; null if it is only in `extensions.config`. */
  readonly name: string | null;
  /** Its keys that the workspace's settings file may set. */
  readonly project: readonly string[];
  /** Its keys that no workspace's settings file may set, even a trusted one. */
  readonly own: readonly string[];
  /** Its keys that hold for every program of a conversation, by what they say of it. */
  readonly programs: Readonly<Partial<Record<"network" | "read" | "unwalled", string>>>;
  /** Its keys that take what clients offer, by the kind of that. */
  readonly offered: Readonly<Record<string, string>>;
  readonly schema: () => Promise<z.ZodType>;
}

const KINDS: Readonly<Record<string, string>> = {
  int: "a whole number",
  safeint: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

/** The error map for all that a user writes, such as settings, files and arguments: says in plain words what a value
 * must be. */
export function settingFault(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "invalid_type") return issue.input === undefined ? "is missing" : `must be ${kindOf(issue)}`;
  if (issue.code === "invalid_value") {
    return `must be ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
  }
  if (issue.code === "too_small") {
    const { minimum, inclusive, origin } = issue;
    if (origin === "number" || origin === "int") return `must be ${inclusive ? "at least" : "more than"} ${minimum}`;
    return minimum === 1 ? "must not be empty" : `must have at least ${minimum} ${partsOf(origin)}`;
  }
  if (issue.code === "too_big") {
    const { maximum, inclusive, origin } = issue;
    if (origin === "number" || origin === "int") return `must be ${inclusive ? "at most" : "less than"} ${maximum}`;
    return `must have at most ${maximum} ${partsOf(origin)}`;
  }
  return undefined;
}

function kindOf({ expected, inst }: z.core.$ZodRawIssue & { readonly expected?: string }): string {
  const { format = "" } = (inst?._zod.def ?? {}) as { readonly format?: string };
  return KINDS[format] ?? KINDS[expected ?? ""] ?? `of the type ${expected}`;
}

function partsOf(origin: string): string {
  return origin === "string" ? "characters" : "entries";
}

/** The name under which `vis login` saves the bot's token. It is not a model provider. */
export const BOT_LOGIN = "telegram";
