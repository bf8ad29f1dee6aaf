import type { ComponentChildren, JSX } from "preact";
import type { MarkdownBlock, MarkdownInline, MarkdownItem, MarkdownList, MarkdownTable } from "../../markdown/tree.ts";
import { Copyable } from "./controls.tsx";
import { coloured } from "./texts.tsx";

/** A Markdown text as elements. Its tree has no markup: HTML in it is text. */
export function Markdown({ blocks }: { readonly blocks: readonly MarkdownBlock[] }): JSX.Element {
  return <>{blocks.map((block) => <Block block={block} />)}</>;
}

function Block({ block }: { readonly block: MarkdownBlock }): JSX.Element {
  switch (block.kind) {
    case "paragraph":
      return <p>{drawn(block.inlines)}</p>;
    case "heading": {
      const Heading = `h${Math.min(6, block.level + 2)}` as "h3";
      return <Heading>{drawn(block.inlines)}</Heading>;
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
  return start === null ? <ul>{all}</ul> : <ol start={start}>{all}</ol>;
}

/** A task gets a box. A tight list has no paragraphs. */
function Item({ item: { done, blocks }, loose }: {
  readonly item: MarkdownItem;
  readonly loose: boolean;
}): JSX.Element {
  const box = done === null ? null : done ? "☑ " : "☐ ";
  const [first, ...rest] = blocks;
  const begins = first?.kind === "paragraph";
  const head = begins ? [box, ...drawn(first.inlines)] : [box];
  return (
    <li class={done === null ? undefined : "task"}>
      {begins && loose ? <p>{head}</p> : head}
      {(begins ? rest : blocks).map((block) =>
        block.kind === "paragraph" && !loose ? <>{drawn(block.inlines)}</> : <Block block={block} />
      )}
    </li>
  );
}

const SIDES = { left: "", center: "middle", right: "right" };

function Table({ table: { sides, head, rows } }: { readonly table: MarkdownTable }): JSX.Element {
  // Dates and numbers are not broken at punctuation.
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
          <tr>{head.map((cell, at) => <th class={classOf(cell, at)}>{drawn(cell)}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((row) => <tr>{row.map((cell, at) => <td class={classOf(cell, at)}>{drawn(cell)}</td>)}</tr>)}
        </tbody>
      </table>
    </div>
  );
}

function drawn(inlines: readonly MarkdownInline[]): ComponentChildren[] {
  return inlines.map((one) => {
    switch (one.kind) {
      case "text":
        return one.text;
      case "code":
        return <code>{one.text}</code>;
      case "break":
        return <br />;
      case "emphasis":
        return <em>{drawn(one.inlines)}</em>;
      case "strong":
        return <strong>{drawn(one.inlines)}</strong>;
      case "strikethrough":
        return <s>{drawn(one.inlines)}</s>;
      case "link":
        return link(one.href, drawn(one.inlines));
      case "image": // the page loads nothing from elsewhere
        return link(one.src, one.alt === "" ? one.src : `${one.alt} (${new URL(one.src).host || one.src})`);
    }
  });
}

function link(href: string, children: ComponentChildren): JSX.Element {
  return <a href={href} title={href} rel="noopener noreferrer" target="_blank">{children}</a>;
}
