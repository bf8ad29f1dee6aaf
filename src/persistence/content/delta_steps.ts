import type { Delta } from "./delta.ts";

/** Parses the steps stored in `content.steps`. */
export function stepsOf(steps: string | null): Delta["steps"] {
  const list: unknown = JSON.parse(steps ?? "[]");
  if (!Array.isArray(list)) return [];
  return list.map((step: unknown) => {
    const [from, length, literal] = Array.isArray(step) ? step.map(Number) : [];
    return [from ?? 0, length ?? 0, literal ?? 0] as const;
  });
}
