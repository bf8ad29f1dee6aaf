export interface TextBlock {
  readonly text: string;
  /** 2 in the page's main element, 1 in an article, else 0. */
  readonly rank: number;
}

/** List items are on consecutive lines, other blocks are separated. */
export function joinedBlocks(blocks: readonly TextBlock[]): string {
  let text = "";
  let last = "";
  for (const block of blocks) {
    const tight = isItem(last) && isItem(block.text);
    text += text === "" ? block.text : `${tight ? "\n" : "\n\n"}${block.text}`;
    last = block.text;
  }
  return text;
}

const isItem = (text: string): boolean => /^[\s>]*(?:-|\d{1,9}\.) /.test(text);
