import fc from "fast-check";
import type { Maker } from "./program_makers.ts";

export interface Program {
  readonly names: readonly string[];
  readonly statements: readonly string[];
  readonly blocks: readonly string[];
}

export function programs(makers: readonly Maker[], most: number): fc.Arbitrary<Program> {
  const step = fc.tuple(fc.nat(makers.length - 1), fc.nat(50), fc.boolean());
  return fc.array(step, { minLength: 1, maxLength: most }).map((steps) => {
    const names: string[] = [], statements: string[] = [], blocks: string[] = [];
    for (const [maker, n, split] of steps) {
      const name = `v${names.length}`;
      const statement = makers[maker]?.(names, name, n) ?? "";
      names.push(name);
      statements.push(statement);
      if (split || blocks.length === 0) blocks.push(statement);
      else blocks[blocks.length - 1] += `\n${statement}`;
    }
    return { names, statements, blocks };
  });
}
