import { SettingError } from "../domain/errors.ts";
import { inputFault } from "../domain/input_fault.ts";
import { SETTING_MARKS } from "../domain/settings_section.ts";
import type { NormalExtension } from "./validate.ts";
import { z } from "zod";

export interface SettingSources {
  readonly offered?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  readonly withSecrets?: ((text: string) => string) | undefined;
}

export function readExtensionConfig(
  { namespace, config }: NormalExtension,
  section: unknown,
  { offered = {}, withSecrets }: SettingSources = {},
): unknown {
  const refused = (path: readonly PropertyKey[], why: string): SettingError => {
    const key = ["extensions.config", namespace, ...path.map(String)].join(".");
    return new SettingError({ source: `extension ${namespace}`, code: "value", key, why });
  };
  if (!config) {
    if (section === undefined) return undefined;
    throw refused([], "is set, but the extension has no settings; remove it");
  }
  const marks = withSecrets || Object.keys(offered).length > 0 ? settingMarks(config) : [];
  const checked = config.safeParse(withOffered(section, marks, offered) ?? {}, { error: inputFault });
  if (checked.success) return withSecrets ? filled(checked.data, marks, withSecrets) : checked.data;
  const [issue] = checked.error.issues;
  throw refused(issue?.path ?? [], issue?.message ?? "is invalid");
}

function withOffered(
  section: unknown,
  marks: readonly SettingMark[],
  offered: NonNullable<SettingSources["offered"]>,
): unknown {
  let merged = section;
  for (const { name, value, path: [key = ""] } of marks) {
    const given = name === "offered" ? offered[String(value)] : undefined;
    if (given) merged = { ...fieldsOf(merged), [key]: { ...given, ...fieldsOf(fieldsOf(merged)[key]) } };
  }
  return merged;
}

function filled(data: unknown, marks: readonly SettingMark[], fill: (text: string) => string): unknown {
  const paths = marks.filter(({ name }) => name === "secrets").map(({ path }) => path);
  return paths.reduce((value, path) => filledAt(value, path, fill), data);
}

function filledAt(value: unknown, [key, ...rest]: readonly string[], fill: (text: string) => string): unknown {
  if (typeof value === "string") return key === undefined ? fill(value) : value;
  const below = (one: unknown, at: string): unknown =>
    key === undefined || key === "*" || key === at ? filledAt(one, rest, fill) : one;
  if (Array.isArray(value)) return value.map((one, at) => below(one, String(at)));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([at, one]) => [at, below(one, at)]));
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}

interface SettingMark {
  readonly name: typeof SETTING_MARKS[number];
  readonly value: unknown;
  readonly path: readonly string[];
}

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly [mark: string]: unknown;
}

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
