interface Found {
  readonly name: string;
  readonly doc: string;
}

export interface Section extends Found {
  readonly place: string;
  /** A search also finds the section by these words, which a comment below the heading has. */
  readonly words: string;
}

const HEADING = /^(#{1,3}) (.+)$/;
const WORDS = /^<!-- words: (.+) -->$/;
const TEXT_WEIGHT = 0.4;
/** The guide explains tasks, so its pages rank higher. The page about other agents only mentions many terms. */
const FOR_USERS = /^guide\/(?!coming-from)/, USERS_WEIGHT = 1.6;
const MISSING_WORD_WEIGHT = 0.5;
const NAMED_WEIGHT = 3;

export class Handbook {
  readonly sections: readonly Section[];
  readonly #pages: Readonly<Record<string, string>>;

  constructor(pages: Readonly<Record<string, string>>) {
    this.#pages = pages;
    this.sections = Object.entries(pages).flatMap(([page, text]) => sectionsOf(page, text));
  }

  static async open(): Promise<Handbook> {
    return new Handbook((await import("../../docs/mod.ts")).pages);
  }

  at(place: string): string | null {
    if (Object.hasOwn(this.#pages, place)) return this.#pages[place] ?? null;
    return this.sections.find((section) => section.place === place)?.doc ?? null;
  }
}

function sectionsOf(page: string, text: string): readonly Section[] {
  const parts: { place: string; name: string; words: string; lines: string[] }[] = [];
  const places = new Map<string, number>();
  let title = page, isCode = false;
  for (const line of text.split("\n")) {
    if (/^ *(?:```|~~~)/.test(line)) isCode = !isCode;
    const [, level = "", heading = ""] = (isCode ? null : HEADING.exec(line)) ?? [];
    if (level === "#") title = heading;
    if (level !== "" || parts.length === 0) {
      const slug = slugOf(heading), times = places.get(slug) ?? 0;
      places.set(slug, times + 1);
      const place = level === "#" || level === "" ? page : `${page}#${slug}${times === 0 ? "" : `-${times}`}`;
      parts.push({ place, name: level === "#" || level === "" ? title : `${title}: ${heading}`, words: "", lines: [] });
    }
    const part = parts.at(-1), [, words] = WORDS.exec(line) ?? [];
    if (part && words !== undefined) part.words = words;
    else part?.lines.push(line);
  }
  return parts.map(({ lines, ...part }) => ({ ...part, doc: lines.join("\n").replaceAll("\n\n\n", "\n\n").trim() }));
}

function slugOf(heading: string): string {
  return heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

const PLAIN_WORDS = new Set(
  ("a all an and are as be by can did do does for from how i in into is it me much my of on or own see the to use using vis was what when " +
    "where which why with you your").split(" "),
);

export function foundByWords<Topic extends Found>(asked: string, topics: readonly Topic[]): readonly Topic[] {
  const read = topics.map((topic) => ({
    name: countsOf("words" in topic ? `${topic.name} ${topic.words}` : topic.name),
    doc: countsOf(topic.doc),
    weight: "place" in topic ? TEXT_WEIGHT : 1,
    isForUsers: !("place" in topic) || FOR_USERS.test(String(topic.place)),
  }));
  const lengths = read.map(({ doc }) => lengthOf(doc));
  const usual = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  const points = topics.map(() => 0), matched = topics.map(() => 0);
  const words = [...countsOf(asked).keys()].filter((word) => !/^[a-z\d]$/.test(word));
  const telling = words.filter((word) => !PLAIN_WORDS.has(word));
  const searched = (telling.length > 0 ? telling : words).slice(0, 10);
  for (const word of searched) {
    const found = read.map(({ name, doc, weight }, at) => {
      const inText = likeness(word, doc),
        often = inText.times / (inText.times + 0.3 + 0.9 * (lengths[at] ?? 0) / usual);
      return 2 * likeness(word, name).points + weight * inText.points * (inText.times === 0 ? 0 : 2 * often);
    });
    const times = found.filter((one) => one > 0).length;
    for (const [at, one] of found.entries()) {
      points[at] = (points[at] ?? 0) + one / Math.max(1, times);
      if (one > 0) matched[at] = (matched[at] ?? 0) + 1;
    }
  }
  const names = asked.toLowerCase().match(/[\p{L}\d]+(?:[._][\p{L}\d]+)+/gu) ?? [];
  const isNamed = ({ name, doc }: Found): boolean =>
    names.length > 0 && names.every((one) => `${name}\n${doc}`.toLowerCase().includes(one));
  const score = (at: number, topic: Topic): number =>
    (points[at] ?? 0) * MISSING_WORD_WEIGHT ** (searched.length - (matched[at] ?? 0)) *
    (read[at]?.isForUsers ? USERS_WEIGHT : 1) * (isNamed(topic) ? NAMED_WEIGHT : 1);
  return topics.map((topic, at) => ({ topic, points: score(at, topic) }))
    .filter((one) => one.points > 0).sort((one, other) => other.points - one.points).map(({ topic }) => topic);
}

type Counts = ReadonlyMap<string, number>;

function likeness(word: string, words: Counts): { readonly points: number; readonly times: number } {
  const exact = words.get(word) ?? 0;
  if (word.length <= 2) return { points: exact > 0 ? 2 : 0, times: exact };
  let times = 0;
  const stem = word.replace(/(?<=.{4})(?:y|e|ies|es|ed|ing)$/, "");
  for (const [one, count] of words) {
    if (one.startsWith(stem) || word.startsWith(one) && one.length > Math.max(3, word.length - 4)) times += count;
  }
  return { points: exact > 0 ? 2 : times > 0 ? 1.5 : 0, times };
}

function lengthOf(words: Counts): number {
  let length = 0;
  for (const count of words.values()) length += count;
  return length;
}

function countsOf(text: string): Counts {
  const found = text.slice(0, 4_000).replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2").toLowerCase().match(/[\p{L}\d]+/gu);
  const counts = new Map<string, number>();
  for (const word of found ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
