import { z } from "zod";

const blockSchema = z.object({ expr: z.string(), timeMs: z.number().optional() });

const nextSchema = z.object({
  model: z.enum(["cost", "speed", "intelligence"]).optional(),
  reasoning: z.enum(["quick", "balanced", "deep"]).optional(),
});

const finalSchema = z.object({
  answer: z.string(),
  answerType: z.enum(["text", "markdown"]).optional(),
  confidence: z.enum(["high", "medium", "low"]).optional(),
});

export const replySchema = z.object({
  thinking: z.string().optional().describe("a few lines: what is asked, done and next"),
  code: z.array(blockSchema).optional().describe("TypeScript blocks; a last expression is the result"),
  next: nextSchema.optional().describe("for the next iteration"),
  final: finalSchema.optional().describe("ends the work"),
});

export function describeReply(): string {
  const fields = Object.entries(replySchema.shape).map(([key, field]) =>
    `  "${key}"?: ${describe(field)}  // ${field.description}`
  );
  return `Reply with exactly one JSON object, nothing around it:
{
${fields.join("\n")}
}
Inside strings write a line feed as \\n, " as \\" and \\ as \\\\ (\\d as \\\\d). Never write results yourself: they come in the next message.`;
}

function describe(schema: z.ZodType): string {
  if (schema instanceof z.ZodOptional) return describe(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodArray) return `${describe(schema.element as z.ZodType)}[]`;
  if (schema instanceof z.ZodEnum) return schema.options.map((option) => JSON.stringify(option)).join(" | ");
  if (!(schema instanceof z.ZodObject)) return schema.type;
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>).map(([key, field]) =>
    `"${key}"${field instanceof z.ZodOptional ? "?" : ""}: ${describe(field)}`
  );
  return `{${fields.join(", ")}}`;
}
