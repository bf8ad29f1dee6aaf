import { visibleText } from "../../domain/text/visible_text.ts";
import { parseMarkdown } from "../../markdown/parse_markdown.ts";
import type { MarkdownBlock, MarkdownInline, MarkdownItem, MarkdownList, MarkdownTable } from "../../markdown/tree.ts";
import { codeHtml } from "./code.ts";

type Escaped = (text: string) => string;

/** The headings of the page come first. */
const HEADINGS_ABOVE = 3;
const TAGS = { emphasis: "em", strong: "strong", strikethrough: "del" } as const;

/** A Markdown answer as HTML that loads nothing. Images are links; HTML appears as written. */
export function answerHtml(answer: string, escaped: Escaped): string {
  return blocksHtml(parseMarkdown(answer, { clean: visibleText }), escaped);
}

function blocksHtml(blocks: readonly MarkdownBlock[], escaped: Escaped): string {
  return blocks.map((block) => blockHtml(block, escaped)).join("\n");
}

function blockHtml(block: MarkdownBlock, escaped: Escaped): string {
  switch (block.kind) {
    case "paragraph":
      return `<p>${inlinesHtml(block.inlines, escaped)}</p>`;
    case "heading": {
      const level = Math.min(6, block.level + HEADINGS_ABOVE);
      return `<h${level}>${inlinesHtml(block.inlines, escaped)}</h${level}>`;
    }
    case "code": {
      const code = codeHtml(block.text, escaped, { language: block.language });
      return `<pre class="code"><code dir="ltr">${code}</code></pre>`;
    }
    case "quote":
      return `<blockquote>${blocksHtml(block.blocks, escaped)}</blockquote>`;
    case "list":
      return list(block, escaped);
    case "table":
      return table(block, escaped);
    case "rule":
      return "<hr>";
  }
}

function list({ start, loose, items }: MarkdownList, escaped: Escaped): string {
  const tag = start === null ? "ul" : "ol";
  const from = start === null || start === 1 ? "" : ` start="${start}"`;
  return `<${tag}${from}>${items.map((item) => itemHtml(item, { loose, escaped })).join("")}</${tag}>`;
}

/** The paragraphs of a list without empty lines stand for themselves. */
function itemHtml(
  { done, blocks }: MarkdownItem,
  { loose, escaped }: { readonly loose: boolean; readonly escaped: Escaped },
): string {
  const box = done === null ? "" : done ? "☑ " : "☐ ";
  const content = blocks.map((block, at) => {
    const mark = at === 0 ? box : "";
    if (block.kind !== "paragraph") return blockHtml(block, escaped);
    const text = `${mark}${inlinesHtml(block.inlines, escaped)}`;
    return loose ? `<p>${text}</p>` : text;
  });
  return `<li${done === null ? "" : ' class="task"'}>${content.join("\n")}</li>`;
}

function table({ sides, head, rows }: MarkdownTable, escaped: Escaped): string {
  const row = (cells: MarkdownTable["head"], tag: "th" | "td"): string => {
    const shown = cells.map((cell, at) => {
      const side = sides[at] ?? null;
      return `<${tag}${side === null ? "" : ` class="${side}"`}>${inlinesHtml(cell, escaped)}</${tag}>`;
    });
    return `<tr>${shown.join("")}</tr>`;
  };
  const body = rows.length === 0 ? "" : `<tbody>${rows.map((cells) => row(cells, "td")).join("")}</tbody>`;
  return `<table><thead>${row(head, "th")}</thead>${body}</table>`;
}

function inlinesHtml(inlines: readonly MarkdownInline[], escaped: Escaped): string {
  return inlines.map((inline) => inlineHtml(inline, escaped)).join("");
}

function inlineHtml(inline: MarkdownInline, escaped: Escaped): string {
  switch (inline.kind) {
    case "text":
      return escaped(inline.text);
    case "code":
      return `<code>${escaped(inline.text)}</code>`;
    case "break":
      return "<br>";
    case "link":
      return link(inlinesHtml(inline.inlines, escaped), { address: inline.href, title: inline.title, escaped });
    case "image": {
      const label = escaped(inline.alt === "" ? inline.src : inline.alt);
      return link(label, { address: inline.src, title: inline.title, escaped });
    }
    default:
      return `<${TAGS[inline.kind]}>${inlinesHtml(inline.inlines, escaped)}</${TAGS[inline.kind]}>`;
  }
}

function link(
  label: string,
  { address, title, escaped }: { readonly address: string; readonly title: string; readonly escaped: Escaped },
): string {
  const also = title === "" ? "" : ` title="${escaped(title)}"`;
  return `<a href="${escaped(address)}"${also} rel="noopener noreferrer">${label}</a>`;
}
