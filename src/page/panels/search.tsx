import type { ComponentChildren, JSX } from "preact";
import { type ApiSearchHit, json } from "../store/api.ts";
import { elements } from "../store/elements.ts";
import { view } from "./viewer.tsx";

/** Searches all conversations. */
export async function search(words: string): Promise<void> {
  await view(`Results for “${words}”`, async () => {
    const { items } = await json<{ readonly items: readonly ApiSearchHit[] }>(
      `/api/v1/search?limit=50&q=${encodeURIComponent(words)}`,
    );
    if (items.length === 0) return <p>No results</p>;
    return items.map((item) => <Hit item={item} words={words} />);
  });
}

function Hit({ item, words }: { readonly item: ApiSearchHit; readonly words: string }): JSX.Element {
  const { branchId, queryId, position, title, kind, snippet, at } = item;
  const step = position === null || position === undefined ? "" : `&s=${position + 1}`;
  return (
    <section class="hit">
      <a href={`#c=${branchId}&q=${queryId}${step}`} onClick={() => elements.viewer.current?.close()}>{title}</a>
      <small>{` ${kind} · ${new Date(at).toLocaleString()}`}</small>
      <p>{marked(snippet, words)}</p>
    </section>
  );
}

/** Matches are in brackets. Text may contain other brackets, which are kept. Other forms of a word match as well. */
function marked(snippet: string, words: string): ComponentChildren {
  const begins = plain(words).split(/[^\p{L}\p{N}_]+/u).filter(Boolean).map((word) => word.slice(0, 2));
  const isHit = (part: string): boolean =>
    /^\[[\p{L}\p{N}_]+\]$/u.test(part) && begins.some((begin) => plain(part).startsWith(begin, 1));
  return snippet.split(/(\[[\p{L}\p{N}_]+\])/u).map((part) =>
    isHit(part) ? <mark>{part.slice(1, -1)}</mark> : <span>{part}</span>
  );
}

function plain(text: string): string {
  return text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
}
