import { Parser } from "htmlparser2";

export type Node = string | {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly nodes: Node[];
};

export function nodesOf(html: string): readonly Node[] {
  const root: Node[] = [];
  const open: Node[][] = [root];
  const parser = new Parser({
    onopentag(tag, attributes) {
      const nodes: Node[] = [];
      open.at(-1)?.push({ tag, attributes, nodes });
      open.push(nodes);
    },
    ontext: (text) => void open.at(-1)?.push(text),
    onclosetag: () => void open.pop(),
  });
  parser.end(html);
  return root;
}

const LINK = /^(?:https?:\/\/|mailto:)/i;

/** Returns an example in the form that every target makes. Only web and mail addresses are links, other targets are
 * shown behind their labels, and images are links. */
export function linksLimited(nodes: readonly Node[]): readonly Node[] {
  return nodes.flatMap((node): readonly Node[] => {
    if (typeof node === "string") return [node];
    const { tag, attributes } = node;
    const inner = linksLimited(node.nodes);
    if (tag !== "a" && tag !== "img") return [{ ...node, nodes: [...inner] }];
    const target = attributes[tag === "a" ? "href" : "src"] ?? "";
    const label = tag === "a" ? textOf(inner) : attributes.alt ?? "";
    const shown = tag === "a" ? inner : [label];
    if (LINK.test(target) && URL.canParse(target)) {
      const title: Record<string, string> = attributes.title === undefined ? {} : { title: attributes.title };
      const { host } = new URL(target);
      const other = /\w\.\w/.test(label) && !label.includes(host) ? [` (${host})`] : [];
      return [{
        tag: "a",
        attributes: { href: target, ...title },
        nodes: label === "" ? [target] : [...shown, ...other],
      }];
    }
    const behind = target === "" || target === label ? "" : label === "" ? target : ` (${target})`;
    return [...shown, behind];
  });
}

function textOf(nodes: readonly Node[]): string {
  return nodes.map((node) => typeof node === "string" ? node : textOf(node.nodes)).join("");
}

const KEPT = ["href", "title", "start"];

/** Returns nodes as a text that two equal pages share, without meaningless blanks, and without classes and spans of
 * code. */
export function canonical(nodes: readonly Node[], isCode = false): string {
  return nodes.map((node) => {
    if (typeof node === "string") return isCode ? node : node.replace(/\s+/g, " ");
    const { tag, attributes } = node;
    const inner = canonical(node.nodes, isCode || tag === "pre");
    if (tag === "span") return inner;
    const kept = KEPT.filter((name) => name in attributes).map((name) => ` ${name}=${attributes[name]}`).join("");
    const isBlock = !["code", "a", "em", "strong", "del"].includes(tag);
    const content = isBlock && tag !== "pre" ? inner.replace(/^ | $/g, "") : inner;
    return `<${tag}${kept}>${content}</${tag}>`;
  }).join("").replace(/ ?(<\/?(?:p|h\d|ul|ol|li|blockquote|pre|hr|br|table|thead|tbody|tr|th|td)\b[^>]*>) ?/g, "$1");
}

/** Each character except blanks, with the names of its styles. */
export type Styled = readonly string[];

export interface Marks {
  readonly item: (list: { readonly start: number | null; readonly at: number }) => string;
  readonly heading: (level: number) => string;
  readonly rule: string;
  readonly shown: (styles: readonly string[]) => readonly string[];
}

const STYLES: Readonly<Record<string, string>> = {
  ...{
    strong: "bold",
    em: "italic",
    del: "strikethrough",
    pre: "pre",
    blockquote: "quote",
    table: "table",
    th: "bold",
  },
  ...{ h1: "bold", h2: "bold", h3: "bold", h4: "bold", h5: "bold", h6: "bold" },
};

export function styledCharacters(text: string, styles: readonly string[]): Styled {
  const names = [...new Set(styles)].sort().join(" ");
  return [...text.replace(/\s/g, "")].map((char) => `${char} ${names}`);
}

export function styledOf(nodes: readonly Node[], marks: Marks, styles: readonly string[] = []): Styled {
  return nodes.flatMap((node): Styled => {
    if (typeof node === "string") return styledCharacters(node, marks.shown(styles));
    const { tag, attributes } = node;
    const style = tag === "a"
      ? `link:${attributes.href}`
      : tag === "code" && !styles.includes("pre")
      ? "code"
      : STYLES[tag];
    const inner = style === undefined ? styles : [...styles, style];
    const mark = (text: string): Styled => styledCharacters(text, marks.shown(inner));
    if (tag === "hr") return mark(marks.rule);
    const level = /^h(\d)$/.exec(tag)?.[1];
    const before = level === undefined ? [] : mark(marks.heading(Number(level)));
    if (tag !== "ul" && tag !== "ol") return [...before, ...styledOf(node.nodes, marks, inner)];
    const start = tag === "ul" ? null : Number(attributes.start ?? 1);
    const items = node.nodes.filter((one) => typeof one !== "string");
    return items.flatMap((item, n) => [...mark(marks.item({ start, at: n })), ...styledOf([item], marks, inner)]);
  });
}
