import { z } from "zod";

export const SearchHitSchema = z.object({
  kind: z.enum(["request", "code", "answer"]),
  snippet: z.string().describe("The words stand in [ and ]"),
  conversationId: z.string(),
  branchId: z.string(),
  title: z.string(),
  queryId: z.string(),
  iterationId: z.string().nullable().describe("Of code"),
  position: z.number().int().min(0).nullable().describe("Of code: the place of its iteration in the query, from 0 on"),
  variable: z.string().nullable().describe("Of code that is the source of a function or class: its name"),
  at: z.number().int().describe("Milliseconds since the epoch"),
  ownerTable: z.string(),
  ownerId: z.string(),
  field: z.string(),
});
