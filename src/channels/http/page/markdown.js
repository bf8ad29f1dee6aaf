import { coloured } from "./code.js";
import { copyable } from "./copy.js";
import { clean, element } from "./dom.js";

/** Markdown as elements: headings, paragraphs, lists, tables, quotes, code, emphasis and http links. HTML in it is
 * shown as text. */
export function markdown(text) {
  const lines = clean(text).split("\n");
  const made = document.createDocumentFragment();
  for (let at = 0; at < lines.length;) at = block(lines, { at, made });
  return made;
}

const STARTS = /^(#{1,6} |```|~~~|> ?|\s*([-*+]|\d{1,9}[.)]) |\|)/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)]) (.*)$/;

/** Reads one block and returns the line after it. */
function block(lines, { at, made }) {
  const line = lines[at];
  if (line.trim() === "") return at + 1;
  const fence = /^(```+|~~~+)\s*([\w+-]*)/.exec(line);
  if (fence) return code(lines, { at, made, fence: fence[1], language: fence[2] });
  const heading = /^(#{1,6}) (.*)$/.exec(line);
  if (heading) {
    const level = Math.min(6, heading[1].length + 2);
    made.append(element(`h${level}`, { children: inline(heading[2]) }));
    return at + 1;
  }
  if (/^ {0,3}([-*_] ?){3,}$/.test(line)) {
    made.append(element("hr"));
    return at + 1;
  }
  if (line.startsWith(">")) return quote(lines, { at, made });
  if (ITEM.test(line)) return list(lines, { at, made });
  if (line.startsWith("|") && /^\|?[\s:|-]+$/.test(lines[at + 1] ?? "")) return table(lines, { at, made });
  return paragraph(lines, { at, made });
}

function code(lines, { at, made, fence, language }) {
  let end = at + 1;
  while (end < lines.length && !lines[end].startsWith(fence)) end++;
  const body = element("code", { children: coloured(lines.slice(at + 1, end).join("\n"), { language }) });
  const label = language === "" ? "Code" : `Code, ${language}`;
  made.append(copyable(element("pre", { tabindex: 0, role: "group", "aria-label": label, children: [body] })));
  return end + 1;
}

function quote(lines, { at, made }) {
  let end = at;
  while (end < lines.length && lines[end].startsWith(">")) end++;
  const inner = lines.slice(at, end).map((line) => line.replace(/^> ?/, ""));
  const body = element("blockquote");
  // One level only: with nested quotes a text could choose the depth of recursion.
  for (let i = 0; i < inner.length;) {
    i = inner[i].startsWith(">") ? plain(inner, i, body) : block(inner, { at: i, made: body });
  }
  made.append(body);
  return end;
}

function plain(lines, at, made) {
  made.append(element("p", { text: lines[at] }));
  return at + 1;
}

function list(lines, { at, made }) {
  const first = ITEM.exec(lines[at]);
  const ordered = /\d/.test(first[2]);
  const body = element(ordered ? "ol" : "ul", ordered ? { start: Number.parseInt(first[2]) } : {});
  let end = at, item = null, nested = null;
  for (; end < lines.length; end++) {
    const found = ITEM.exec(lines[end]);
    if (found && found[1].length > first[1].length && item) {
      nested ??= item.appendChild(element(/\d/.test(found[2]) ? "ol" : "ul"));
      nested.append(itemOf(found[3]));
    } else if (found) {
      nested = null;
      item = itemOf(found[3]);
      body.append(item);
    } else if (item && /^\s+\S/.test(lines[end])) item.append(" ", ...inline(lines[end].trim()));
    else break;
  }
  made.append(body);
  return end;
}

/** A task item gets a checkbox. */
function itemOf(text) {
  const task = /^\[([ xX])\] (.*)$/.exec(text);
  if (!task) return element("li", { children: inline(text) });
  return element("li", { class: "task", children: [task[1] === " " ? "☐ " : "☑ ", ...inline(task[2])] });
}

function table(lines, { at, made }) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  let end = at + 2;
  while (end < lines.length && lines[end].startsWith("|")) end++;
  const sides = cells(lines[at + 1]).map((cell) =>
    /^:-+:$/.test(cell) ? "middle" : /^-+:$/.test(cell) ? "right" : null
  );
  // Dates and numbers are not broken at punctuation.
  const classOf = (cell, i) => [sides[i], /^\S{1,16}$/.test(cell) && "short"].filter(Boolean).join(" ") || null;
  const cellOf = (name) => (cell, i) => element(name, { class: classOf(cell, i), children: inline(cell) });
  const row = (line, name) => element("tr", { children: cells(line).map(cellOf(name)) });
  const head = element("thead", { children: [row(lines[at], "th")] });
  const body = element("tbody", { children: lines.slice(at + 2, end).map((line) => row(line, "td")) });
  const scrolls = { class: "table", tabindex: 0, role: "group", "aria-label": "Table" };
  made.append(element("div", { ...scrolls, children: [element("table", { children: [head, body] })] }));
  return end;
}

function paragraph(lines, { at, made }) {
  let end = at + 1;
  while (end < lines.length && lines[end].trim() !== "" && !STARTS.test(lines[end])) end++;
  made.append(element("p", { children: inline(lines.slice(at, end).join("\n")) }));
  return end;
}

const INLINE =
  /(?<code>`+)(?<coded>[^`\n]{1,2000}?)\k<code>(?!`)|\*\*(?<strong>[^*\n]{1,2000})\*\*|(?<![\w*])\*(?<em>[^*\s][^*\n]{0,2000})\*(?!\w)|\[(?<label>[^\]\n]{1,500})\]\((?<href>https?:\/\/[^\s)]{1,2000})\)|(?<url>https?:\/\/[^\s<>()"'`]{1,2000}[^\s<>()"'`.,;:!?])/g;

/** Nodes of a line: text, and elements around text. */
function inline(text) {
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > from) nodes.push(document.createTextNode(text.slice(from, found.index)));
    nodes.push(inlineElement(found.groups));
    from = found.index + found[0].length;
  }
  if (from < text.length) nodes.push(document.createTextNode(text.slice(from)));
  return nodes;
}

function inlineElement({ coded, strong, em, label, href, url }) {
  if (coded !== undefined) return element("code", { text: coded });
  if (strong !== undefined) return element("strong", { children: inlineCode(strong) });
  if (em !== undefined) return element("em", { text: em });
  return link(href ?? url, label ?? url);
}

/** A label that looks like another address must not hide the target of the link. */
function link(href, label) {
  const { host } = URL.canParse(href) ? new URL(href) : { host: href };
  const isOther = /\w\.\w/.test(label) && !label.includes(host);
  const text = isOther ? `${label} (${host})` : label;
  return element("a", { href, text, title: href, rel: "noopener noreferrer", target: "_blank" });
}

function inlineCode(text) {
  return text.split(/(`[^`]+`)/).filter((part) => part !== "").map((part) =>
    /^`.+`$/.test(part) ? element("code", { text: part.slice(1, -1) }) : document.createTextNode(part)
  );
}
