/** Elements without content and end tag. */
export const VOID: ReadonlySet<string> = new Set(
  "area base basefont br col embed frame hr img input keygen link meta param source track wbr".split(" "),
);

/** Elements that are useless to a reader of the text. */
const SKIPPED: ReadonlySet<string> = new Set(
  "script style noscript template svg iframe object canvas audio video button select textarea dialog nav footer aside noembed noframes"
    .split(" "),
);
const SKIPPED_ROLES: ReadonlySet<string> = new Set(
  "navigation banner contentinfo search dialog alertdialog menu menubar toolbar tooltip".split(" "),
);

/** Inline elements, formulas, and what is left out of a paragraph; all others start and end one. */
export const INLINE: ReadonlySet<string> = new Set(
  [
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q rp rt ruby s samp small span",
    "strike strong sub sup time tt u var wbr meter output picture progress slot",
    "math annotation mfrac mi mn mo mover mroot mrow ms mspace msqrt mstyle msub msubsup msup mtext munder munderover",
    "semantics script style noscript template svg iframe object canvas audio video button select textarea",
  ].join(" ").split(" "),
);

/** Which open elements a tag closes, up to the element that contains both. */
export const ENDS: Readonly<Record<string, { readonly names: readonly string[]; readonly within: readonly string[] }>> =
  {
    li: { names: ["li"], within: ["ul", "ol"] },
    dt: { names: ["dt", "dd"], within: ["dl"] },
    dd: { names: ["dt", "dd"], within: ["dl"] },
    tr: { names: ["tr"], within: ["table"] },
    td: { names: ["td", "th"], within: ["tr", "table"] },
    th: { names: ["td", "th"], within: ["tr", "table"] },
    a: { names: ["a"], within: ["td", "th", "table"] },
    option: { names: ["option"], within: ["select"] },
    body: { names: ["head"], within: [] },
  };
/** Each of these ends an open paragraph. */
export const ENDS_PARAGRAPH: ReadonlySet<string> = new Set(
  "p h1 h2 h3 h4 h5 h6 div section article main header footer aside nav ul ol dl table pre blockquote form figure hr"
    .split(" "),
);

export function isSkipped(name: string, attributes: ReadonlyMap<string, string>): boolean {
  return SKIPPED.has(name) || attributes.has("hidden") || attributes.get("aria-hidden") === "true" ||
    SKIPPED_ROLES.has(attributes.get("role") ?? "");
}

/** The language that a code element names. */
export function languageOf(attributes: ReadonlyMap<string, string>): string {
  return /(?:^|\s)lang(?:uage)?-([\w+#-]{1,30})/.exec(attributes.get("class") ?? "")?.[1] ?? "";
}

/** The number of a list's first item. */
export function startOf(attributes: ReadonlyMap<string, string>): number {
  const start = attributes.get("start") ?? "1";
  return /^\d{1,6}$/.test(start) ? Number(start) : 1;
}
