import { type ComponentChildren, Fragment, type JSX, options } from "preact";
import { useMemo, useState } from "preact/hooks";
import { counted, HIDDEN_CHARACTERS } from "../../domain/kit/text.ts";
import { codeSpans, diffSpans } from "../../markdown/code_spans.ts";
import { type DiffFile, type DiffLine, diffTitle, parseDiff } from "../../markdown/parse_diff.ts";
import type { MarkdownBlock, MarkdownInline, MarkdownItem, MarkdownList, MarkdownTable } from "../../markdown/tree.ts";
import { Copyable } from "./controls.tsx";

/** A text could use hidden characters to look like another text, so the page shows signs instead. */
export function clean(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN_CHARACTERS, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 32) return String.fromCodePoint(0x2400 + code);
    return code === 127 ? "\u2421" : `\u2039U+${code.toString(16).toUpperCase()}\u203a`;
  });
}

/** After this call, the texts of elements pass `clean` before Preact draws the texts. */
export function cleanElements(): void {
  const { vnode: before } = options;
  options.vnode = (vnode) => {
    if (typeof vnode.type === "string" || vnode.type === Fragment) {
      const props = vnode.props as { children?: ComponentChildren };
      if (props.children !== undefined) props.children = cleaned(props.children);
    }
    before?.(vnode);
  };
}

function cleaned(children: ComponentChildren): ComponentChildren {
  if (typeof children === "string") return clean(children);
  return Array.isArray(children) ? children.map(cleaned) : children;
}

export function plural(count: number, word: string): string {
  return counted(count, word, count.toLocaleString());
}

const SHOWN_CHARS = 20_000;

const COLOURED_CHARS = 20_000;

export function LongText(
  { text, show = unchanged }: {
    readonly text: string;
    readonly show?: (part: string) => ComponentChildren;
  },
): JSX.Element {
  const [end, grow] = useState(SHOWN_CHARS);
  if (text.length <= end) return <>{show(text)}</>;
  return (
    <>
      {show(text.slice(0, end))}
      <button type="button" class="more" onClick={() => grow(end * 4)}>
        {`Show more (${(text.length - end).toLocaleString()} more characters)`}
      </button>
    </>
  );
}

function unchanged(part: string): string {
  return part;
}

/** A long text scrolls, so the keyboard must be able to reach the text. */
export function Pre({ label, text, show, ...given }: {
  readonly label: string;
  readonly text: string;
  readonly class?: string;
  readonly show?: (part: string) => ComponentChildren;
}): JSX.Element {
  return (
    <pre {...given} tabIndex={0} aria-label={label}>
      <LongText text={text} {...(show === undefined ? {} : { show })} />
    </pre>
  );
}

export function endOfText(text: string): string {
  return text.length > 2 * SHOWN_CHARS ? `… ${text.slice(-SHOWN_CHARS)}` : text;
}

export function countsOf(diffs: readonly string[]): Readonly<Record<"added" | "removed" | "lines", number>> {
  const read = diffs.flatMap(parseDiff);
  const sum = (count: (file: DiffFile) => number): number => read.reduce((all, file) => all + count(file), 0);
  return {
    added: sum(({ added }) => added),
    removed: sum(({ removed }) => removed),
    lines: sum((one) => one.lines.length),
  };
}

const SIGNS = { added: "+", removed: "−", same: "" } as const;
const SHOWN_LINES = 40;

const SHOWN_DIFFS = 20;

export function Diffs({ diffs }: { readonly diffs: readonly string[] }): JSX.Element {
  const [shown, show] = useState(SHOWN_DIFFS);
  const rest = diffs.length - shown;
  return (
    <>
      {diffs.slice(0, shown).map((diff, at) => <DiffView key={at} text={diff} />)}
      {rest > 0 && (
        <button type="button" class="more" onClick={() => show(Infinity)}>
          {`Show ${plural(rest, "more change")}`}
        </button>
      )}
    </>
  );
}

export function DiffView({ text, whole }: { readonly text: string; readonly whole?: true }): JSX.Element {
  const files = useMemo(() => parseDiff(text), [text]);
  return <>{files.map((file, at) => <FileChange key={at} file={file} all={whole} />)}</>;
}

function FileChange({ file, all }: { readonly file: DiffFile; readonly all: true | undefined }): JSX.Element {
  const [whole, show] = useState(all);
  const { added, removed, lines } = file;
  const title = diffTitle(file);
  const rest = whole ? 0 : Math.max(0, lines.length - SHOWN_LINES);
  return (
    <div role="group" class="change" aria-label={title === "" ? "Change" : `Change of ${title}`}>
      {title !== "" && (
        <header>
          <b>{title}</b>
          {added > 0 && <span class="d-plus">{`+${added}`}</span>}
          {removed > 0 && <span class="d-minus">{`−${removed}`}</span>}
        </header>
      )}
      <div class="lines" dir="ltr">
        {(rest > 0 ? lines.slice(0, SHOWN_LINES) : lines).map((line, at) => <Line key={at} line={line} />)}
      </div>
      {rest > 0 && (
        <button type="button" class="more" onClick={() => show(true)}>{`Show ${plural(rest, "more line")}`}</button>
      )}
    </div>
  );
}

function Line({ line }: { readonly line: DiffLine }): JSX.Element {
  if (line.kind === "gap" || line.kind === "note") {
    return (
      <div class="d-gap">
        <i />
        <i />
        <code>{line.kind === "gap" ? "⋯" : line.text}</code>
      </div>
    );
  }
  return (
    <div class={`d-${line.kind}`}>
      <i>{line.number}</i>
      <i>{SIGNS[line.kind]}</i>
      <code>{line.spans.map(({ text, changed }) => changed ? <mark>{text}</mark> : text)}</code>
    </div>
  );
}

export function ShownDiff({ label, text }: { readonly label: string; readonly text: string }): JSX.Element {
  return <Pre class="diff" label={label} text={text.trimEnd()} show={diffLines} />;
}

function diffLines(text: string): ComponentChildren {
  return diffSpans(text).map(({ kind, text }) => (
    <span class={`d-${text.startsWith("~") ? "changed" : kind}`}>{text}</span>
  ));
}

export function folderName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? "";
}

export function coloured(code: string, language = "ts"): ComponentChildren {
  if (code.length > COLOURED_CHARS) return code;
  return codeSpans(code, language).map(({ kind, text }) =>
    kind === "plain" ? text : <span class={`t-${kind}`}>{text}</span>
  );
}

export function codeInText(text: string): ComponentChildren {
  return text.split(/`([^`\n]+)`/).map((part, at) => at % 2 === 1 ? <code>{part}</code> : part);
}

export function Markdown({ blocks }: { readonly blocks: readonly MarkdownBlock[] }): JSX.Element {
  return <>{blocks.map((block) => <Block block={block} />)}</>;
}

function Block({ block }: { readonly block: MarkdownBlock }): JSX.Element {
  switch (block.kind) {
    case "paragraph":
      return <p dir="auto">{inlinesOf(block.inlines)}</p>;
    case "heading": {
      const Heading = `h${Math.min(6, block.level + 2)}` as "h3";
      return <Heading dir="auto">{inlinesOf(block.inlines)}</Heading>;
    }
    case "code":
      return <Code language={block.language} text={block.text} />;
    case "quote":
      return (
        <blockquote>
          <Markdown blocks={block.blocks} />
        </blockquote>
      );
    case "list":
      return <List list={block} />;
    case "table":
      return <Table table={block} />;
    case "rule":
      return <hr />;
  }
}

function Code({ language, text }: { readonly language: string; readonly text: string }): JSX.Element {
  return (
    <Copyable what="code">
      <pre tabIndex={0} role="group" aria-label={language === "" ? "Code" : `Code, ${language}`}>
        <code>{coloured(text, language)}</code>
      </pre>
    </Copyable>
  );
}

function List({ list: { start, loose, items } }: { readonly list: MarkdownList }): JSX.Element {
  const all = items.map((item) => <Item item={item} loose={loose} />);
  return start === null ? <ul dir="auto">{all}</ul> : <ol dir="auto" start={start}>{all}</ol>;
}

function Item({ item: { done, blocks }, loose }: {
  readonly item: MarkdownItem;
  readonly loose: boolean;
}): JSX.Element {
  const box = done === null ? null : done ? "☑ " : "☐ ";
  const [first, ...rest] = blocks;
  const begins = first?.kind === "paragraph";
  const head = begins ? [box, ...inlinesOf(first.inlines)] : [box];
  return (
    <li class={done === null ? undefined : "task"}>
      {begins && loose ? <p>{head}</p> : head}
      {(begins ? rest : blocks).map((block) =>
        block.kind === "paragraph" && !loose ? <>{inlinesOf(block.inlines)}</> : <Block block={block} />
      )}
    </li>
  );
}

const SIDES = { left: "", center: "middle", right: "right" };

function Table({ table: { sides, head, rows } }: { readonly table: MarkdownTable }): JSX.Element {
  const classOf = (cell: readonly MarkdownInline[], at: number): string | undefined => {
    const [only] = cell;
    const isShort = cell.length === 1 && only?.kind === "text" && /^\S{1,16}$/.test(only.text);
    const side = sides[at] ?? null;
    return [side === null ? "" : SIDES[side], isShort ? "short" : ""].filter(Boolean).join(" ") || undefined;
  };
  return (
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>{head.map((cell, at) => <th class={classOf(cell, at)}>{inlinesOf(cell)}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((row) => <tr>{row.map((cell, at) => <td class={classOf(cell, at)}>{inlinesOf(cell)}</td>)}</tr>)}
        </tbody>
      </table>
    </div>
  );
}

function inlinesOf(inlines: readonly MarkdownInline[]): ComponentChildren[] {
  return inlines.map((one) => {
    switch (one.kind) {
      case "text":
        return one.text;
      case "code":
        return <code>{one.text}</code>;
      case "break":
        return <br />;
      case "emphasis":
        return <em>{inlinesOf(one.inlines)}</em>;
      case "strong":
        return <strong>{inlinesOf(one.inlines)}</strong>;
      case "strikethrough":
        return <s>{inlinesOf(one.inlines)}</s>;
      case "link":
        return link(one.href, inlinesOf(one.inlines));
      case "image": // The page loads no content from other servers, so an image becomes a link.
        return link(one.src, one.alt === "" ? one.src : `${one.alt} (${new URL(one.src).host || one.src})`);
    }
  });
}

function link(href: string, children: ComponentChildren): JSX.Element {
  return <a href={href} title={href} rel="noopener noreferrer" target="_blank">{children}</a>;
}

export function shortTime(time: number): string {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString([], { timeStyle: "short" }) : date.toLocaleDateString();
}
