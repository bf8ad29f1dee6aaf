import { z } from "zod";

const blockSchema = z.object({
  expr: z.string().describe("TypeScript to run; its last expression is the result"),
  timeMs: z.number().optional().describe("expected run time in milliseconds"),
});

const nextSchema = z.object({
  model: z.enum(["cost", "speed", "intelligence"]).optional(),
  reasoning: z.enum(["quick", "balanced", "deep"]).optional(),
});

const finalSchema = z.object({
  answer: z.string().describe("text, {{template}} over your variables, or the name of one variable"),
  answerType: z.enum(["text", "markdown"]).optional(),
  confidence: z.enum(["high", "medium", "low"]).optional(),
});

/** The reply of a model: the one source of what the prompt says, of the validation and of the types. */
export const replySchema = z.object({
  thinking: z.string().optional().describe("why, in a few lines; leave it out if you reason natively"),
  code: z.array(blockSchema).optional().describe("blocks to run now, in order; [] when there is nothing to run"),
  next: nextSchema.optional().describe("what the next iteration needs"),
  final: finalSchema.optional().describe("only when the request is answered; ends the work"),
});

const EXAMPLE = JSON.stringify({
  thinking: "Need the call sites; then count them per file.",
  code: [{ expr: 'const hits = await fs.grep("parse_", "src")\nhits.length', timeMs: 3000 }],
});
const FINISHED = JSON.stringify({ final: { answer: "{{hits.length}} call sites", answerType: "text" } });

/** The third message of every call: the reply's format for any text model, always the same bytes. */
export function describeReply(): string {
  return `Reply with exactly one JSON object and nothing before or after it:
${describe(replySchema, { indent: "", comment: "" })}
Inside strings write a line feed as \\n, " as \\" and \\ as \\\\ (the pattern \\d becomes \\\\d). Never write results yourself: they come in the next message.
To work:   ${EXAMPLE}
To finish: ${FINISHED}`;
}

/** Pseudo-TypeScript of the kinds of schema used above. */
function describe(schema: z.ZodType, at: { readonly indent: string; readonly comment: string }): string {
  const { indent, comment } = at;
  if (schema instanceof z.ZodOptional) return describe(schema.unwrap() as z.ZodType, at);
  if (schema instanceof z.ZodArray) {
    return describe(schema.element as z.ZodType, at).replace(/\}$/, "}[]");
  }
  if (schema instanceof z.ZodEnum) return schema.options.map((option) => JSON.stringify(option)).join(" | ") + comment;
  if (!(schema instanceof z.ZodObject)) return schema.type + comment;
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>).map(([key, field]) => {
    const mark = field instanceof z.ZodOptional ? "?" : "";
    const inner = { indent: `${indent}  `, comment: field.description ? `  // ${field.description}` : "" };
    return `${indent}  "${key}"${mark}: ${describe(field, inner)}`;
  });
  return `{${comment}\n${fields.join("\n")}\n${indent}}`;
}
