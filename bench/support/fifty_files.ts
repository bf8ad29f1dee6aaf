import { join } from "node:path";

export const FILES = 50;
const FILE_BYTES = 4096;

export function fileName(index: number): string {
  return `notes/part-${String(index).padStart(2, "0")}.txt`;
}

export function markOf(index: number): string {
  return `<<part ${index}>>`;
}

export async function withFiftyFiles<T>(work: (workspace: string) => Promise<T>): Promise<T> {
  const workspace = await Deno.makeTempDir({ prefix: "vis-bench-files-" });
  try {
    await Deno.mkdir(join(workspace, "notes"));
    for (let index = 0; index < FILES; index++) {
      await Deno.writeTextFile(join(workspace, fileName(index)), fileText(index));
    }
    return await work(workspace);
  } finally {
    await Deno.remove(workspace, { recursive: true });
  }
}

export function fileText(index: number): string {
  let text = `${markOf(index)}\n`;
  for (let line = 0; text.length < FILE_BYTES; line++) {
    text += `${line} the value of item ${index * 1000 + line * 7} was checked against row ${line * line + index}\n`;
  }
  return text.slice(0, FILE_BYTES);
}
