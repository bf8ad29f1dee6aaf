import { eastAsianWidth } from "get-east-asian-width";

const ASCII = /^[\x20-\x7e]*$/;
const GRAPHEMES = new Intl.Segmenter();
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}{2})/u;
/** Halfwidth marks of a letter take a column of their own. */
const MARKS = /(?<=[^])[\uff9e\uff9f]/g;
const NOTHING = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;

/** The columns that a text without control sequences takes on a terminal. */
export function textColumns(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    if (EMOJI.test(segment)) columns += 2;
    else if (!NOTHING.test(segment)) {
      columns += eastAsianWidth(segment.codePointAt(0) ?? 0) + (segment.match(MARKS)?.length ?? 0);
    }
  }
  return columns;
}
