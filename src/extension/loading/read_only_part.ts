import type { NormalExtension } from "../validate_extension.ts";

/** Returns the part of an extension that a read-only workspace gets, or null if it has no `readOnly`. */
export function readOnlyPart(extension: NormalExtension): NormalExtension | null {
  const { readOnly, symbols } = extension;
  if (readOnly === undefined || readOnly === true) return readOnly ? extension : null;
  const { prompt } = readOnly;
  return { ...extension, prompt: () => prompt, symbols: symbols.filter(({ name }) => readOnly.symbols.includes(name)) };
}
