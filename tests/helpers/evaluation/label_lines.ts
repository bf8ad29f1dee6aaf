export const LABEL_LINES = [
  'const lines = context.split("\\n").filter((line) => line !== "")',
  "const groups = Array.from({ length: Math.ceil(lines.length / 100) }, (_, at) => lines.slice(at * 100, at * 100 + 100))",
  'const replies = await rlm.askAll(groups.map((group) => "Label each line as number, person, place or reason; one label per line.\\n\\n" + group.join("\\n")))',
  'const labels = replies.flatMap((reply) => typeof reply === "string" ? reply.split("\\n") : [])',
  'if (labels.length !== lines.length) throw new Error(labels.length + " labels for " + lines.length + " lines")',
].join("\n");
