import type { NormalExtension } from "../validate_extension.ts";

/** What of an extension a workspace gets that may only be read; null for one that says nothing about it. */
export function readOnlyPart(extension: NormalExtension): NormalExtension | null {
  const { readOnly, symbols } = extension;
  if (readOnly === undefined || readOnly === true) return readOnly ? extension : null;
  const { prompt } = readOnly;
  return { ...extension, prompt: () => prompt, symbols: symbols.filter(({ name }) => readOnly.symbols.includes(name)) };
}
