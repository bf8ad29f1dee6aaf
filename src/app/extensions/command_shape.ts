import type { CliCommand } from "../../extension/spec.ts";

/** The arguments of an extension's command. */
export interface CommandShape {
  /** Keys of the positional arguments, in order. */
  readonly required: readonly string[];
  /** The other keys: passed as `--key value`, or as a flag if boolean. */
  readonly optional: readonly { readonly key: string; readonly kind: string }[];
}

export function commandShape({ args }: CliCommand): CommandShape {
  const entries = Object.entries(args?.shape ?? {});
  const isOptional = (type: (typeof entries)[number][1]): boolean => type.safeParse(undefined).success;
  return {
    required: entries.filter(([, type]) => !isOptional(type)).map(([key]) => key),
    optional: entries.filter(([, type]) => isOptional(type)).map(([key, type]) => ({ key, kind: schemaKind(type) })),
  };
}

/** The kind of a schema without defaults and other wrappers: "string", "number", "boolean", … */
export function schemaKind(type: unknown): string {
  let inner = type;
  for (let depth = 0; depth < 10; depth++) {
    const def: unknown = Reflect.get(Object(inner), "def");
    const next: unknown = Reflect.get(Object(def), "innerType");
    if (next === undefined) return String(Reflect.get(Object(def), "type"));
    inner = next;
  }
  return "";
}
