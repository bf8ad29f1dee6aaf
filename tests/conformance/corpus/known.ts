/** Differences without an explanation. Remove an entry with the lines of the corpus that have its key as a mark. */
export const KNOWN: Readonly<Record<string, string>> = {
  "fixed names":
    "`undefined`, `NaN` and `Infinity` cannot be declared at top level, and `require` is undefined in place of absent",
  "prototypes":
    "Classes of the language and their prototypes cannot be extended, nor what a promise inherits be replaced in it",
  "console": "console has no tables and groups",
  "type arguments": "Type arguments of a call that is not the whole expression are read as comparisons",
  "parameter properties": "Parameter properties are set after the fields of the class",
  "html comments": "`a<!--b` runs, where a module refuses it as a comment of HTML",
  "pattern words": "Destructuring at top level has other words in its error, as it is an assignment",
  "separated lines": "A line without indentation that begins with a bracket or a template begins a statement",
  "return": "A return outside of functions ends the block",
};
