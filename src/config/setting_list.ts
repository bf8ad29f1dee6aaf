import { z } from "zod";
import { SETTING_MARKS } from "../domain/settings_section.ts";
import type { SettingsSections } from "./layers.ts";
import { ConfigSchema } from "./schema.ts";

export interface ConfigSetting {
  /** If the key occurs in each entry of a list, `[]` replaces the index. */
  readonly key: string;
  readonly type: string;
  readonly doc: string;
  readonly default: unknown;
  readonly choices: readonly unknown[];
  readonly isList: boolean;
}

interface Node {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly not?: Node;
}

export function settingList(schema: object): readonly ConfigSetting[] {
  return [...leaves(schema as Node, "")];
}

export function settingOf(path: readonly string[], schema: object): ConfigSetting | null {
  const node = path.reduce<Node | undefined>(childOf, schema as Node);
  return node === undefined ? null : settingFrom(node, path.join("."));
}

export function keysAt(path: readonly PropertyKey[], schema: object): readonly string[] {
  const node = path.map(String).reduce<Node | undefined>(childOf, schema as Node);
  return [node, ...node?.anyOf ?? []].flatMap((one) => Object.keys(one?.properties ?? {}));
}

function childOf(node: Node | undefined, step: string): Node | undefined {
  if (node === undefined) return undefined;
  if (node.items && /^\d+$/.test(step)) return node.items;
  if (node.properties && Object.hasOwn(node.properties, step)) return node.properties[step];
  if (typeof node.additionalProperties === "object") return node.additionalProperties;
  for (const one of node.anyOf ?? []) {
    const child = childOf(one, step);
    if (child) return child;
  }
  // Sections of other extensions have no schema here, so any key in them may exist.
  return node.additionalProperties === true || Object.keys(node).length === 0 ? {} : undefined;
}

export async function configJsonSchema({ all }: SettingsSections): Promise<object> {
  const root = jsonOf(ConfigSchema);
  const config = root.properties?.["extensions"]?.properties?.["config"];
  const top: Record<string, Node> = { ...root.properties }, below: Record<string, Node> = {};
  for (const { name, namespace, schema } of all) {
    below[namespace] = jsonOf(await schema());
    if (name !== null) top[name] = { ...below[namespace], title: `Shorter name of extensions.config.${namespace}` };
  }
  if (config) Object.assign(config, { properties: below });
  return { ...root, properties: top };
}

function jsonOf(schema: z.ZodType): Node {
  const override = ({ jsonSchema }: { readonly jsonSchema: Record<string, unknown> }): void => {
    for (const mark of [...SETTING_MARKS, "env"]) delete jsonSchema[mark];
  };
  return z.toJSONSchema(schema, { io: "input", override, unrepresentable: "any" }) as Node;
}

function* leaves(node: Node, path: string): Generator<ConfigSetting> {
  for (const [key, child] of Object.entries(node.properties ?? {})) {
    if (child.not) continue; // The name of an earlier version has an error of its own.
    const at = `${path}${key}`;
    if (child.properties && !child.description) {
      yield* leaves(child, `${at}.`);
      continue;
    }
    yield settingFrom(child, at);
    if (child.items?.properties) yield* leaves(child.items, `${at}[].`);
    if (child.properties) yield* leaves(child, `${at}.`);
  }
}

function settingFrom(node: Node, key: string): ConfigSetting {
  const { description: doc = "", enum: choices = node.type === "boolean" ? [true, false] : [] } = node;
  return { key, type: typeOf(node), doc, default: node.default, choices, isList: isList(node) };
}

function isList({ type, anyOf = [] }: Node): boolean {
  return type === "array" || anyOf.length > 0 && anyOf.every((one) => one.type === "null" || isList(one));
}

function typeOf(node: Node): string {
  if (node.enum) return node.enum.map((value) => `\`${value}\``).join(", ");
  if (node.anyOf) return node.anyOf.map(typeOf).join(" or ");
  if (node.type === "array") return `list of ${node.items ? typeOf(node.items) : "anything"}`;
  return typeof node.type === "string" ? node.type : node.type?.join(" or ") ?? "anything";
}
