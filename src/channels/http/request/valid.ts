import { setImmediate } from "node:timers";
import type { Context, MiddlewareHandler } from "hono";
import { uniqueSymbol } from "hono-openapi";
import type { z } from "zod";
import { Semaphore } from "../../../domain/kit/concurrency.ts";
import { type JsonLimits, JsonTooLarge, readForeignJson } from "../../../domain/kit/json.ts";
import { Problem } from "../response/problem.ts";
import { schemaFor } from "./describe.ts";
import type { Env } from "./env.ts";
import { readRequestBody } from "./read_body.ts";

/** Makes `c.req.valid(target)` what the schema reads. */
type Valid<T extends "json" | "query", S extends z.ZodType> = MiddlewareHandler<
  Env,
  string,
  { in: { [K in T]: z.input<S> }; out: { [K in T]: z.output<S> } }
>;

/** A list of wrong items must not become as many faults. */
const FIRST_FAULTS = { abortEarly: true, reportInput: false };
const MAX_MESSAGE = 500;
const JSON_LIMITS: JsonLimits = { values: 100_000, depth: 200 };
/** Bodies are read into values one after the other, and other requests get their turn in between. */
const PARSING = new Semaphore(1);
const LARGE = 64 << 10;

/** Validates the query string. */
export function validQuery<S extends z.ZodType>(schema: S): Valid<"query", S> {
  return valid({ target: "query", schema }, (c) => checked(schema, { value: c.req.query(), what: "the query" }));
}

/** Reads and validates a JSON body. */
export function validJson<S extends z.ZodType>(schema: S): Valid<"json", S> {
  return valid({ target: "json", schema }, async (c) => {
    const text = await readRequestBody(c.req.raw, c.env.parts.limits);
    c.set("bodyText", text);
    const read = () => checked(schema, { value: parsed(text), what: "the body" });
    if (text.length <= LARGE) return read();
    return await PARSING.run(async () => {
      await new Promise<void>((resolve) => setImmediate(resolve));
      return read();
    });
  });
}

/** Like the validators of Hono; these throw `Problem`, and hono-openapi describes them. */
function valid<T extends "json" | "query", S extends z.ZodType>(
  { target, schema }: { readonly target: T; readonly schema: S },
  read: (c: Context<Env>) => unknown,
): Valid<T, S> {
  const middleware: MiddlewareHandler<Env> = async (c, next) => {
    c.req.addValidatedData(target, Object(await read(c)));
    await next();
  };
  return Object.assign(middleware, { [uniqueSymbol]: { target, ...schemaFor(schema, "input") } });
}

function parsed(text: string): unknown {
  if (text === "") return {};
  try {
    return readForeignJson(text, JSON_LIMITS);
  } catch (error) {
    const isLarge = error instanceof JsonTooLarge;
    const kind = isLarge && error.limit === "values" ? "too-large" : "bad-request";
    throw new Problem(`Cannot read the body: ${isLarge ? error.what : "it is not JSON"}`, { kind });
  }
}

function checked(schema: z.ZodType, { value, what }: { readonly value: unknown; readonly what: string }): unknown {
  const result = schema.safeParse(value, FIRST_FAULTS);
  if (result.success) return result.data;
  const errors = result.error.issues.slice(0, 20).map(innermost).map(({ path, message }) => ({
    path: path.map(String).join("."),
    message: message.slice(0, MAX_MESSAGE),
  }));
  const [first] = errors;
  const where = first && first.path !== "" ? `${first.path}: ` : "";
  throw new Problem(`Cannot use ${what}: ${where}${first?.message ?? "invalid"}`, { kind: "bad-request", errors });
}

/** What is wrong with a value that may be of several kinds: of the one that it is meant to be, if only one can be meant. */
function innermost(issue: z.core.$ZodIssue): Pick<z.core.$ZodIssue, "path" | "message"> {
  const meant = issue.code === "invalid_union" ? issue.errors.filter(([first]) => first && first.path.length > 0) : [];
  const [[fault] = []] = meant;
  if (!fault || meant.length > 1) return issue;
  const { path, message } = innermost(fault);
  return { path: [...issue.path, ...path], message };
}
