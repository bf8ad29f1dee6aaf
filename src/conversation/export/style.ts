/** The style of an exported page: dark and light by the reader's system, also for phones and print. */
export const EXPORT_STYLE = `
:root { color-scheme: light dark; --back: #f6f6f4; --card: #ffffff; --text: #1d1f21; --soft: #5c6166; --line: #dcdee0;
  --code: #f3f4f5; --answer: #eaf5ec; --edge: #2f8a4c; --bad: #a3262b; --ok: #1d6c39; --link: #0b57a4; --ask: #e8f0fa;
  --comment: #616c64; --string: #8a3d14; --keyword: #6b34b8; --number: #0d6470; }
@media (prefers-color-scheme: dark) {
  :root { --back: #131517; --card: #1a1d20; --text: #e4e6e8; --soft: #a2a8ae; --line: #33383d; --code: #212529;
    --answer: #16291c; --edge: #5fbf7f; --bad: #ff8f8f; --ok: #7fd69a; --link: #8cc1ff; --ask: #17263a;
    --comment: #95a59a; --string: #e8a87c; --keyword: #c8a6ff; --number: #7fd0dd; }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1rem 4rem; background: var(--back); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1rem; margin: 2.75rem 0 .6rem; color: var(--soft); }
h3 { font-size: .8rem; margin: 0 0 .4rem; color: var(--edge); letter-spacing: .04em; text-transform: uppercase; }
h4 { font-size: 1.05rem; margin: .75rem 0 .25rem; }
small, .facts, .label { color: var(--soft); font-size: .85rem; font-weight: normal; }
a { color: var(--link); }
header .facts { margin: 0 0 .75rem; }
.totals { display: flex; flex-wrap: wrap; gap: .4rem; margin: 0 0 1rem; }
.totals span { background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .7rem;
  font-size: .85rem; }
nav { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .25rem 1rem; }
nav ol { padding-left: 1.5rem; margin: .5rem 0; }
nav a { text-decoration: none; }
nav a:hover { text-decoration: underline; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; font: inherit; }
.code, code, .part pre, .call pre { font: .875rem/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.request { background: var(--ask); border-radius: 8px; border-left: 4px solid var(--link); padding: .7rem 1rem;
  margin-bottom: 1rem; font-size: 1.05rem; }
.answer { background: var(--answer); border-left: 4px solid var(--edge); border-radius: 8px; padding: .8rem 1.1rem;
  margin: 1rem 0 .5rem; }
.answer.none { background: var(--card); border-color: var(--bad); }
.answer.none h3 { color: var(--bad); }
.answer > :last-child, .answer blockquote > :last-child, .answer li > :last-child { margin-bottom: 0; }
.answer p { white-space: pre-wrap; margin: 0 0 .6rem; }
.answer li { white-space: pre-wrap; }
.answer ul, .answer ol { white-space: normal; margin: 0 0 .6rem; padding: 0 0 0 1.6rem; }
.answer .task { list-style: none; margin-left: -1.2rem; }
.answer h5, .answer h6 { font-size: 1rem; margin: .75rem 0 .25rem; }
.answer hr { border: 0; border-top: 1px solid var(--line); margin: .9rem 0; }
.answer blockquote { margin: 0 0 .6rem; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--soft); }
.answer :not(pre) > code { background: var(--code); border-radius: 4px; padding: .05rem .3rem; }
.answer .code { margin-bottom: .6rem; }
table { border-collapse: collapse; margin: 0 0 .6rem; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .25rem .6rem; text-align: start; vertical-align: top; }
th { background: var(--code); }
.left { text-align: left; } .center { text-align: center; } .right { text-align: right; }
details { margin: .5rem 0; }
summary { cursor: pointer; }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.iteration { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .55rem .9rem; }
.iteration > summary { font-weight: 600; }
.badge { border: 1px solid var(--line); border-radius: 1rem; padding: .05rem .55rem; margin-left: .3rem; }
.badge.bad { color: var(--bad); border-color: currentColor; }
.thinking { color: var(--soft); margin: .5rem 0 .25rem; padding-left: .8rem; border-left: 2px solid var(--line);
  font-style: italic; }
.thinking .label { font-style: normal; }
.thinking pre { max-height: 16rem; overflow: auto; }
.block { margin: .75rem 0; }
.code { background: var(--code); border-radius: 6px; padding: .6rem .8rem; tab-size: 2; }
.comment { color: var(--comment); font-style: italic; } .string { color: var(--string); }
.keyword { color: var(--keyword); } .number, .value { color: var(--number); }
.added { color: var(--ok); } .removed { color: var(--bad); } .place, .file { color: var(--comment); }
.end { margin: .3rem 0; font-size: .9rem; }
.ok { color: var(--ok); }
.bad, .bad pre { color: var(--bad); }
.part { margin: .25rem 0 .5rem; }
.part pre { max-height: 24rem; overflow: auto; border-left: 2px solid var(--line); padding-left: .8rem; }
.child { border-left: 3px solid var(--line); padding-left: .75rem; }
img { display: block; max-width: 100%; max-height: 30rem; margin: .5rem 0; border-radius: 6px; }
@media print {
  body { max-width: none; padding: 0; } .part pre, .thinking pre { max-height: none; }
  .iteration, .answer, .request { break-inside: auto; }
}
`;
