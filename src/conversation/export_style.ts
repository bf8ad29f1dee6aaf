/** The style of an exported page: dark and light as the reader's system has it, phones and paper too. */
export const EXPORT_STYLE = `
:root { color-scheme: light dark; --back: #fbfbfa; --text: #1d1f21; --soft: #5c6166; --line: #d9dbdd; --code: #f0f1f2;
  --answer: #edf5ee; --bad: #a3262b; --ok: #20703a; --link: #0b57a4; }
@media (prefers-color-scheme: dark) {
  :root { --back: #16181a; --text: #e4e6e8; --soft: #a2a8ae; --line: #363b40; --code: #202428; --answer: #1a2a1f;
    --bad: #ff8f8f; --ok: #7fd69a; --link: #8cc1ff; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; background: var(--back); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 0 0 .25rem; }
small, .facts, .label { color: var(--soft); font-size: .85rem; font-weight: normal; }
a { color: var(--link); }
nav ol { padding-left: 1.5rem; margin: .75rem 0; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; font: inherit; }
.code, .part pre, .thinking pre, .call pre { font: .875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.request { border-left: 3px solid var(--link); padding: .25rem 0 .25rem .75rem; margin-bottom: 1rem; }
.answer { background: var(--answer); border-radius: 6px; padding: .75rem 1rem; margin: 1rem 0 .5rem; }
details { margin: .5rem 0; }
summary { cursor: pointer; }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.iteration { border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; }
.iteration > summary { font-weight: 600; }
.thinking pre { color: var(--soft); padding: .25rem 0 .25rem .75rem; border-left: 2px solid var(--line); }
.block { margin: .75rem 0; }
.code { background: var(--code); border-radius: 4px; padding: .5rem .75rem; }
.end { margin: .25rem 0; font-size: .9rem; }
.ok { color: var(--ok); }
.bad, .bad pre { color: var(--bad); }
.part { margin: .25rem 0 .5rem; }
.part pre { max-height: 24rem; overflow: auto; border-left: 2px solid var(--line); padding-left: .75rem; }
.child { border-left: 3px solid var(--line); padding-left: .75rem; }
img { display: block; max-width: 100%; max-height: 30rem; margin: .5rem 0; border-radius: 4px; }
@media print { body { max-width: none; } .part pre { max-height: none; } .iteration { break-inside: auto; } }
`;
