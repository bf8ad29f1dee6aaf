import { z } from "zod";

export const SearchHitSchema = z.object({
  kind: z.enum(["request", "code", "answer"]),
  snippet: z.string().describe("Text around the matches, which are enclosed in [ and ]"),
  conversationId: z.string(),
  branchId: z.string(),
  title: z.string(),
  queryId: z.string(),
  iterationId: z.string().nullable().describe("For code, the id of the iteration"),
  position: z.number().int().min(0).nullable().describe("For code, the 0-based index of the iteration in the query"),
  variable: z.string().nullable().describe(
    "For code that defines a function or class, the name of this function or class",
  ),
  at: z.number().int().describe("Time in milliseconds since the epoch"),
  ownerTable: z.string(),
  ownerId: z.string(),
  field: z.string(),
});
