export function escapes(code: string): readonly string[] {
  const out = `}); ${code}; (function(){`;
  return [
    `{a:1};\`\${'\`'}\`${out}\`\${'\`'}\``,
    `{a:1};\`\${"\`"}\`${out}\`\${"\`"}\``,
    `{ a: 1 } /[\`]/; ${out} /[\`]/`,
    `function //\ng() { /*\n(){}; ${out} /*/ }\n/* */ 1`,
    `function //\rg() { /*\n(){}; ${out} /*/ }\n/* */ 1`,
    `function //\u2028g() { /*\n(){}; ${out} /*/ }\n/* */ 1`,
    `async function //\ng() { /*\n(){}; ${out} /*/ }\n/* */ 1`,
    `function * //\ng() { /*\n(){}; ${out} /*/ }\n/* */ 1`,
    `g(); function /*\n*/ //\ng() { /*\n(){}; ${out} /*/ }\n/* */ 1`,
  ];
}
