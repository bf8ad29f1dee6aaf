import { z } from "zod";
import { SETTING_MARKS } from "../../domain/settings.ts";

/** What a setting means to Vis, marked on its type with `.meta({ … })`; docs/extensions.md lists the marks. */
export interface SettingMark {
  readonly name: typeof SETTING_MARKS[number];
  readonly value: unknown;
  /** Keys that lead to the setting; `*` matches every key of a record or index of a list. */
  readonly path: readonly string[];
}

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly [mark: string]: unknown;
}

/** All marks of an extension's settings. */
export function settingMarks(config: z.ZodType): readonly SettingMark[] {
  return [...marksOf(z.toJSONSchema(config, { io: "input", unrepresentable: "any" }) as Node, [])];
}

function* marksOf(node: Node, path: readonly string[]): Generator<SettingMark> {
  for (const name of SETTING_MARKS) if (node[name] !== undefined) yield { name, value: node[name], path };
  for (const one of node.anyOf ?? []) yield* marksOf(one, path);
  for (const [key, one] of Object.entries(node.properties ?? {})) yield* marksOf(one, [...path, key]);
  for (const one of [node.additionalProperties, node.items]) {
    if (typeof one === "object") yield* marksOf(one, [...path, "*"]);
  }
}
