import assert from "node:assert/strict";
import { z } from "zod";
import { inputFault } from "../../src/domain/input_fault.ts";

const said = (schema: z.ZodType, value: unknown): string =>
  (schema.safeParse(value, { error: inputFault }).error?.issues ?? []).map(({ path, message }) =>
    [...path, message].join(" ")
  ).join("; ");

const CASES: readonly (readonly [z.ZodType, unknown, string])[] = [
  [z.object({ a: z.string() }), {}, "a is missing"],
  [z.string(), 1, "must be text"],
  [z.int(), 1.5, "must be a whole number"],
  [z.enum(["a", "b"]), "c", 'must be "a" or "b"'],
  [z.string().min(1), "", "must not be empty"],
  [z.array(z.string()).max(1), ["a", "b"], "must have at most 1 entry"],
  [z.number().gt(0), 0, "must be more than 0"],
  [z.strictObject({}), { a: 1, b: 2 }, "has the unknown keys a, b"],
  [z.url(), "x", "must be a URL"],
  [z.url({ protocol: /^https$/ }), "http://x/y", "must be an https URL"],
  [z.url({ protocol: /^https?$/ }).nullable(), "file:///x", "must be an http or https URL"],
  [z.iso.datetime(), "x", "must be a time, such as 2026-03-01T12:00:00Z"],
  [z.string().regex(/^a$/), "b", "must match /^a$/"],
  [z.string().startsWith("/"), "b", "must begin with /"],
  [z.number().multipleOf(5), 3, "must be a multiple of 5"],
  [z.union([z.string(), z.array(z.string())]), 1, "must be text or a list"],
  [z.union([z.string(), z.array(z.string())]), [1], "is not valid: 0 must be text"],
  [z.record(z.string().max(1), z.number()), { ab: 1 }, "ab is not a valid key: it must have at most 1 character"],
];

Deno.test("inputFault() continues a sentence that begins with the name of the value", () => {
  for (const [schema, value, expected] of CASES) assert.equal(said(schema, value), expected);
});
