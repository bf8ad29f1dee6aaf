import { counted } from "./kit/text.ts";
import type { z } from "zod";

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

const FORMATS: Readonly<Record<string, string>> = {
  date: "a date, such as 2026-03-01",
  datetime: "a time, such as 2026-03-01T12:00:00Z",
  base64: "Base64",
  email: "an e-mail address",
};

/** The messages continue a sentence that begins with the name of the value. */
export function inputFault(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `must be ${kindOf(issue)}`;
    case "invalid_value":
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "too_small": {
      const { minimum, inclusive, origin } = issue;
      if (isNumber(origin)) return `must be ${inclusive ? "at least" : "more than"} ${minimum}`;
      return minimum === 1 ? "must not be empty" : `must have at least ${partsOf(minimum, origin)}`;
    }
    case "too_big": {
      const { maximum, inclusive, origin } = issue;
      if (isNumber(origin)) return `must be ${inclusive ? "at most" : "less than"} ${maximum}`;
      return `must have at most ${partsOf(maximum, origin)}`;
    }
    case "unrecognized_keys":
      return `has the unknown ${issue.keys.length === 1 ? "key" : "keys"} ${
        issue.keys.slice(0, 5).map((key) => key.slice(0, 80)).join(", ")
      }`;
    case "invalid_format":
      return formatFault(issue);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_key":
      return `is not a valid key: it ${issue.issues[0]?.message ?? "has an invalid form"}`;
    case "invalid_union":
      return unionFault(issue.errors);
    default:
      return undefined;
  }
}

function formatFault(issue: z.core.$ZodRawIssue & { readonly code: "invalid_format" }): string {
  const { format } = issue;
  if (format === "regex") return `must match ${issue.pattern}`;
  if (format === "starts_with") return `must begin with ${issue["prefix"]}`;
  return `must be ${format === "url" ? urlKind(issue) : FORMATS[format] ?? format}`;
}

function unionFault(alternatives: readonly (readonly z.core.$ZodIssue[])[]): string {
  const firsts = alternatives.flatMap(([first]) => first ?? []);
  const inside = firsts.filter(({ path }) => path.length > 0);
  const [only] = inside;
  if (only && inside.length === 1) return `is not valid: ${only.path.map(String).join(".")} ${only.message}`;
  const kinds = firsts.flatMap(({ code, message }) => {
    // deno-lint-ignore vis/no-message-parsing -- the messages of this file, joined to one
    return code === "invalid_type" || code === "invalid_value" ? message.replace(/^must be /, "") : [];
  });
  return kinds.length === firsts.length && kinds.length > 0
    ? `must be ${[...new Set(kinds)].join(" or ")}`
    : firsts.find(({ code }) => code !== "invalid_type" && code !== "invalid_value")?.message ??
      "has a value that is not valid";
}

function kindOf({ expected, inst }: z.core.$ZodRawIssue & { readonly expected?: string }): string {
  const { format = "" } = (inst?._zod.def ?? {}) as { readonly format?: string };
  return KINDS[format] ?? KINDS[expected ?? ""] ?? `of the type ${expected}`;
}

function urlKind({ inst }: z.core.$ZodRawIssue): string {
  const { protocol } = (inst?._zod.def ?? {}) as { readonly protocol?: RegExp };
  const accepted = ["http", "https"].filter((one) => protocol?.test(one));
  return accepted.length === 0 ? "a URL" : `an ${accepted.join(" or ")} URL`;
}

function isNumber(origin: string): boolean {
  return origin === "number" || origin === "int";
}

function partsOf(count: number | bigint, origin: string): string {
  return counted(count, origin === "string" ? "character" : "entry");
}
