import MarkdownIt, { type Token } from "markdown-it";

/** Of deeper quotes and lists, what is inside is shown as written. A list counts two. */
const MAX_DEPTH = 40;

const parser = new MarkdownIt({ html: false, linkify: true });

// Every target: those that are no links are shown as text (`_inlines.ts`).
parser.validateLink = () => true;
parser.linkify.add("ftp:", null).add("//", null).add("www.", {
  validate: (text, at, self) => /^[\w-]/.test(text.slice(at, at + 1)) ? hostAndPath(text, at, self) : 0,
  normalize: (match) => {
    match.url = `http://${match.url}`;
  },
});

/** The length of what follows "www." in an address. */
function hostAndPath(text: string, at: number, self: typeof parser.linkify): number {
  // The package matches addresses with a scheme only.
  const rest = text.slice(at, at + 2_000);
  const found = self.matchAtStart(`http://www.${rest}`);
  return found === null ? 0 : found.lastIndex - "http://www.".length;
}

// The package drops what is nested more deeply than its limit.
const tokenize = parser.block.tokenize;
parser.block.tokenize = function (state, start, end): void {
  if (state.level < MAX_DEPTH) return tokenize.call(this, state, start, end);
  let line = start;
  while (line < end && (state.isEmpty(line) || (state.sCount[line] ?? 0) >= state.blkIndent)) line++;
  const text = state.getLines(start, line, state.blkIndent, false).trim();
  state.line = line;
  state.push("paragraph_open", "p", 1);
  const inline = state.push("inline", "", 0);
  inline.content = text;
  inline.children = [Object.assign(new state.Token("text", "", 0), { content: text })];
  inline.type = "as_written";
  state.push("paragraph_close", "p", -1);
};

/** The tokens of a text by CommonMark and the tables, strikethrough and bare addresses of GitHub. */
export function markdownTokens(text: string): readonly Token[] {
  return parser.parse(text, {});
}

/** What the word after a fence says. */
export function fenceLanguage(info: string): string {
  return parser.utils.unescapeAll(info).trim().split(/\s+/, 1)[0] ?? "";
}
