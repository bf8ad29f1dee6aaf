import { codeHtml } from "./code.ts";

type Escaped = (text: string) => string;

const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;

/** An answer as HTML. Supports the Markdown that answers commonly use: headings, lists, tables, quotes, fences, code
 * and strong text; everything else, including links and HTML, appears as written. */
export function answerHtml(answer: string, escaped: Escaped): string {
  const lines = answer.split("\n");
  const parts: string[] = [];
  for (let at = 0; at < lines.length;) {
    const [html, used] = blockAt(lines, { at, escaped });
    parts.push(html);
    at += used;
  }
  return parts.join("\n");
}

/** The block that begins at a line, and its number of lines: at least one. */
function blockAt(
  lines: readonly string[],
  { at, escaped }: { readonly at: number; readonly escaped: Escaped },
): readonly [string, number] {
  const line = lines[at] ?? "";
  if (line.trim() === "") return ["", 1];
  const fence = /^\s*(```+|~~~+)\s*(\w*)/.exec(line);
  if (fence) return fenced(lines, { at, fence, escaped });
  const heading = /^(#{1,6})\s+(.*)$/.exec(line);
  if (heading) return [`<h4>${inline(heading[2] ?? "", escaped)}</h4>`, 1];
  if (isRow(line) && /^[\s|:-]+$/.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("-")) {
    return table(lines, { at, escaped });
  }
  const run = runFrom(lines, at);
  if (ITEM.test(line)) return [list(run(ITEM), escaped), run(ITEM).length];
  if (line.startsWith(">")) {
    const quoted = run(/^>/);
    const text = quoted.map((one) => one.replace(/^>\s?/, "")).join("\n");
    return [`<blockquote><p>${inline(text, escaped)}</p></blockquote>`, quoted.length];
  }
  const text = [
    line,
    ...runFrom(lines, at + 1)(/^(?!\s*$|\s*(?:```|~~~)|#{1,6}\s|>|\s*(?:[-*+]|\d{1,9}[.)])\s|\s*\|)/),
  ];
  return [`<p>${inline(text.join("\n"), escaped)}</p>`, text.length];
}

function runFrom(lines: readonly string[], at: number) {
  return (pattern: RegExp): readonly string[] => {
    let end = at;
    while (end < lines.length && pattern.test(lines[end] ?? "")) end++;
    return lines.slice(at, end);
  };
}

function fenced(
  lines: readonly string[],
  { at, fence, escaped }: { readonly at: number; readonly fence: RegExpExecArray; readonly escaped: Escaped },
): readonly [string, number] {
  const [, mark = "", language = ""] = fence;
  let end = at + 1;
  while (end < lines.length && !(lines[end] ?? "").trimStart().startsWith(mark)) end++;
  const text = lines.slice(at + 1, end).join("\n");
  const code = /^(ts|tsx|typescript|js|jsx|javascript|json)$/i.test(language) ? codeHtml(text, escaped) : escaped(text);
  return [`<pre class="code"><code dir="ltr">${code}</code></pre>`, end - at + 1];
}

/** Items keep their numbers and their indentation. */
function list(lines: readonly string[], escaped: Escaped): string {
  const items = lines.map((line) => {
    const [, indent = "", number, text = ""] = ITEM.exec(line) ?? [];
    const depth = Math.min(4, Math.floor(indent.replaceAll("\t", "    ").length / 2));
    const mark = number === undefined ? "•" : `${number}.`;
    return `<li class="depth-${depth}"><span class="mark">${mark}</span> ${inline(text, escaped)}</li>`;
  });
  return `<ul>${items.join("")}</ul>`;
}

function isRow(line: string): boolean {
  return line.trim().startsWith("|") && line.includes("|", line.indexOf("|") + 1);
}

function table(
  lines: readonly string[],
  { at, escaped }: { readonly at: number; readonly escaped: Escaped },
): readonly [string, number] {
  let end = at + 2;
  while (end < lines.length && isRow(lines[end] ?? "")) end++;
  const row = (line: string, tag: "th" | "td"): string => {
    const cells = line.trim().replace(/^\||\|$/g, "").split("|");
    return `<tr>${cells.map((cell) => `<${tag}>${inline(cell.trim(), escaped)}</${tag}>`).join("")}</tr>`;
  };
  const body = lines.slice(at + 2, end).map((line) => row(line, "td"));
  return [`<table><thead>${row(lines[at] ?? "", "th")}</thead><tbody>${body.join("")}</tbody></table>`, end - at];
}

function inline(text: string, escaped: Escaped): string {
  const parts: string[] = [];
  let end = 0;
  for (const match of text.matchAll(/`([^`\n]+)`|\*\*([^*\n]+)\*\*/g)) {
    const [all, code, strong] = match;
    parts.push(escaped(text.slice(end, match.index)));
    parts.push(code === undefined ? `<strong>${escaped(strong ?? "")}</strong>` : `<code>${escaped(code)}</code>`);
    end = match.index + all.length;
  }
  return parts.join("") + escaped(text.slice(end));
}
