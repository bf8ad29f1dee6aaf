import { setImmediate } from "node:timers";
import type { z } from "zod";
import { Semaphore } from "../../../domain/kit/semaphore.ts";
import { checkJson } from "./check_json.ts";
import type { HttpLimits } from "../routing/http_parts.ts";
import { Problem } from "../response/problem.ts";
import { readRequestBody } from "./read_body.ts";
import type { HttpRoute, RouteCall } from "../routing/route.ts";

/** A list of wrong items must not become as many faults. */
const FIRST_FAULTS = { abortEarly: true, reportInput: false };
const MAX_MESSAGE = 500;
/** Bodies are read into values one after the other, and other requests get their turn in between. */
const PARSING = new Semaphore(1);
const LARGE = 64 << 10;

/** Prepares a request for its route's handler. Throws `Problem` if its schemas reject it. */
export async function readCall(
  request: Request,
  { route, limits, ...facts }: Pick<RouteCall, "params" | "requestId" | "caller" | "leaving"> & {
    readonly route: Pick<HttpRoute, "body" | "query">;
    readonly limits: HttpLimits;
  },
): Promise<RouteCall> {
  const { searchParams } = new URL(request.url);
  const query = checked(route.query, { value: Object.fromEntries(searchParams), what: "the query" });
  const bodyText = route.body ? await readRequestBody(request, limits) : "";
  const read = (): unknown =>
    checked(route.body, { value: route.body ? parsed(bodyText) : undefined, what: "the body" });
  const body = bodyText.length <= LARGE ? read() : await PARSING.run(async () => {
    await new Promise<void>((resolve) => setImmediate(resolve));
    return read();
  });
  return { ...facts, body, bodyText, query, headers: request.headers };
}

function parsed(text: string): unknown {
  if (text === "") return {};
  checkJson(text);
  return readJson(text);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("Cannot read the body: it is not JSON", { kind: "bad-request" });
  }
}

function checked(
  schema: z.ZodType | undefined,
  { value, what }: { readonly value: unknown; readonly what: string },
): unknown {
  if (!schema) return undefined;
  const result = schema.safeParse(value, FIRST_FAULTS);
  if (result.success) return result.data;
  const errors = result.error.issues.slice(0, 20).map(({ path, message }) => ({
    path: path.map(String).join("."),
    message: message.slice(0, MAX_MESSAGE),
  }));
  const [first] = errors;
  const where = first && first.path !== "" ? `${first.path}: ` : "";
  throw new Problem(`Cannot use ${what}: ${where}${first?.message ?? "invalid"}`, { kind: "bad-request", errors });
}
