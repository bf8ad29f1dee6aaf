/** Pieces of programs for property tests. Each piece makes one name, from the names before it. */

/** `n` varies the piece. */
export type Maker = (names: readonly string[], name: string, n: number) => string;

const pick = (names: readonly string[], n: number): string => names[n % names.length] ?? "1";
const number = (names: readonly string[], n: number): string => `(Number(${pick(names, n)}) || ${n})`;

const VALUES: readonly Maker[] = [
  (names, name, n) => `const ${name} = ${number(names, n)} + ${n}`,
  (names, name, n) => `let ${name} = [${number(names, n)}, ${n}].length\n${name}++`,
  (names, name, n) => `var ${name}\n${name} = ${number(names, n + 1)} * 2`,
  (names, name, n) => `let ${name} = ${n};\n(${name})++\n;[${name}] = [${name} + ${number(names, n)}]`,
  (names, name, n) =>
    `let ${name} = ${n}, other_${name} = ${number(names, n)}\n;[${name}, other_${name}] = [other_${name}, ${name}]`,
  (names, name, n) =>
    `let ${name} = ${n}\nlet add_${name} = ${name}\n+${number(names, n)}\n-1; ${name} += add_${name} /* end */ // end`,
  (names, name, n) => `const ${name} = \`\${${number(names, n)}}<!--\n\${"\\\`"}\`.length // <!-- \``,
  (names, name, n) =>
    `const ${name} = ${n} < -n_${name} ? 1 : /[/\`"']/.test("/") ? ${number(names, n)} : 3; var n_${name}`,
  (names, name, n) => `const ${name} = [${number(names, n)}].at(-1)?.valueOf?.() ?? 1${n}_0`,
];

const DESTRUCTURING: readonly Maker[] = [
  (names, name, n) => `const { a: ${name}, ...rest_${name} } = { a: ${number(names, n)}, b: ${n} }`,
  (names, name, n) => `const [${name} = ${n}] = [${n % 2 ? "undefined" : number(names, n)}]`,
  (names, name, n) =>
    `const log_${name} = []; const { x: ${name} = (log_${name}.push("x"), ${n}), y: { z_${name} = log_${name}.push("z") } = {}, ["k" + ${n}]: k_${name} = ${
      number(names, n)
    } } = { ${n % 2 ? "x: 4" : ""} }`,
  (names, name, n) => `const [, ${name} = await ${number(names, n)}, ...[first_${name}]] = [1, , ${n}]`,
  (names, name, n) =>
    `let ${name}, o_${name} = {}; ({ a: ${name}, b: o_${name}.b = ${n} } = { a: ${
      number(names, n)
    } }); ${name} += o_${name}.b`,
  (names, name, n) => `var { length: ${name} } = "x".repeat(${number(names, n)} % 9 >>> 0), [q_${name}] = [${n}]`,
];

const FUNCTIONS: readonly Maker[] = [
  (names, name, n) => `function f_${name}(x) { return x + ${number(names, n)} }\nconst ${name} = f_${name}(${n})`,
  (names, name, n) => `const ${name} = late_${name}()\nfunction late_${name}() { return ${number(names, n)} }`,
  (names, name, n) => `const ${name} = ((a, b = a) => { const c = b; return a + c })(${number(names, n)})`,
  (names, name, n) => `const get_${name} = () => ${number(names, n)}; const ${name} = get_${name}() // done`,
  (names, name, n) =>
    `function* g_${name}() { const got = yield ${n}; return got + ${
      number(names, n)
    } }\nconst it_${name} = g_${name}(); it_${name}.next(); const ${name} = it_${name}.next(2).value`,
  (names, name, n) =>
    `let ${name} = 0; async function* g_${name}() { yield* [${n}, ${
      number(names, n)
    }] }\nfor await (const x of g_${name}()) ${name} += x`,
  (names, name, n) =>
    `let c_${name} = ${n}; function see_${name}() { return c_${name} + ${
      number(names, n)
    } }\nc_${name} = 3; const ${name} = see_${name}()`,
  (names, name, n) =>
    `{ function hidden_${name}() { return ${number(names, n)} } var ${name} = hidden_${name}() + ${n} }`,
  (names, name, n) =>
    `function ${name}_a(k) { return k <= 0 ? ${
      number(names, n)
    } : ${name}_b(k - 1) }\nfunction ${name}_b(k) { return ${name}_a(k - 1) }\nconst ${name} = ${name}_a(${n % 5})`,
];

const CLASSES: readonly Maker[] = [
  (names, name, n) =>
    `class C_${name} { v = ${n}; static s = ${number(names, n)} }\nconst ${name} = new C_${name}().v + C_${name}.s`,
  (names, name, n) =>
    `class P_${name} { #x = ${n}; static #all = 0; static { this.#all = ${
      number(names, n)
    } } get x() { return this.#x } set x(v) { this.#x = v } static all() { return P_${name}.#all } #m() { return 1 } m() { return this.#m() } }\nconst p_${name} = new P_${name}(); p_${name}.x++; const ${name} = p_${name}.x + P_${name}.all() + p_${name}.m()`,
  (names, name, n) =>
    `class A_${name} { hi() { return ${
      number(names, n)
    } } static make() { return new this() } }\nclass B_${name} extends A_${name} { hi() { return super.hi() + ${n} } }\nconst ${name} = B_${name}.make().hi()`,
];

const STATEMENTS: readonly Maker[] = [
  (names, name, n) =>
    `let ${name} = 0\nfor (let i = 0; i < ${n % 5}; i++) { const k = i; ${name} += k + ${number(names, n)} }`,
  (names, name, n) => `if (${n % 2}) { var ${name} = ${number(names, n)} } else { var ${name} = ${n} }`,
  (_names, name, n) =>
    `let ${name} = 0; outer: for (var i_${name} of [1, 2, 3]) { for (const j of [1, 2]) { if (j === 2) continue outer; if (i_${name} > ${
      n % 4
    }) break outer; ${name} += j } }`,
  (names, name, n) => `let ${name}; try { throw ${number(names, n)} } catch (e) { ${name} = e } finally { ${name}++ }`,
  (names, name, n) => `const ${name} = await Promise.resolve(${number(names, n)})`,
  (names, name, n) => `let ${name} = ${n}; { using r = { [Symbol.dispose]() { ${name} += ${number(names, n)} } } }`,
  (names, name, n) =>
    `switch (${n % 3}) { case 0: var ${name} = ${
      number(names, n)
    }; break; case 1: { var ${name} = 1 } default: ${name} ??= ${n} }`,
  (names, name, n) => `const ${name} = ${n}; { const ${name} = 0; { let ${name} = ${number(names, n)} } }`,
];

const TYPESCRIPT: readonly Maker[] = [
  (names, name, n) =>
    `enum E_${name} { A = ${n}, B, C = A << 1, D = "x".length }\nconst ${name}: number = E_${name}.B + E_${name}.C + ${
      number(names, n)
    }`,
  (names, name, n) =>
    `interface I_${name} { a: number }\nconst ${name} = ({ a: ${
      number(names, n)
    } } satisfies I_${name} as I_${name}).a!`,
  (names, name, n) =>
    `function t_${name}<T>(x: T, ...more: T[]): T { return more[0] ?? x }\nconst ${name} = t_${name}<number>(${
      number(names, n)
    }) + [...new Set<number>([${n}, ${n}])].length`,
  (names, name, n) =>
    `class T_${name}<T> { constructor(private readonly x: T, public y?: number) {} get(): T { return this.x } }\nconst ${name} = new T_${name}<number>(${
      number(names, n)
    }, ${n}).get()`,
  (names, name, n) =>
    `function o_${name}(a: string): number\nfunction o_${name}(a: number): number\nfunction o_${name}(a: unknown): number { return a as number }\nvar ${name}: number = o_${name}(${
      number(names, n)
    })`,
  (names, name, n) =>
    `const enum S_${name} { A = "a", B = "bb" }\nlet ${name} = S_${name}.B.length + ${number(names, n)}`,
];

/** These makers write plain JavaScript. */
export const PLAIN_MAKERS: readonly Maker[] = [
  ...VALUES,
  ...DESTRUCTURING,
  ...FUNCTIONS,
  ...CLASSES,
  ...STATEMENTS,
];

export const MAKERS: readonly Maker[] = [...PLAIN_MAKERS, ...TYPESCRIPT];
