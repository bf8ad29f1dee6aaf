import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { MockOptions } from "../../helpers/wires/openai_mock.ts";
import type { Launcher } from "../_launcher.ts";
import { launched, together } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

const MAKE = `
// Rows of the report
const rows = [{ name: "a", n: 1 }, { name: "b", n: 2 }]
const seen = new Map([["a", new Set([1n, -0])]])
let total = 0
function sum(list: { n: number }[]): number { return list.reduce((all, { n }) => all + n, 0) }
const twice = (n: number) => sum(rows) * n
class Account {
  constructor(public owner: string, public balance = 0) {}
  add(n: number) { this.balance += n; return this }
  get text() { return this.owner + ":" + this.balance }
}
class Savings extends Account { rate = 2; grow() { return this.add(this.balance * this.rate) } }
class Hidden { #n = 1 }
const account = new Savings("Ann", 10)
const hidden = new Hidden()
total = sum(rows)`;

/** A conversation that goes on in a new process. */
export function continueSuite(launcher: Launcher): void {
  const withUser = (work: (user: User) => Promise<void>, model: MockOptions) => async (): Promise<void> => {
    await using user = await User.make(launcher, model);
    await work(user);
  };

  launched(launcher, "vis run -c finds data, functions, classes and instances alive in a new process", async () => {
    await using user = await User.make(launcher, {
      reply: [
        replyJson(MAKE, { thinking: "lay the ground", final: "made {{total}}" }),
        replyJson(
          [
            "rows.push({ name: 'c', n: 4 })\ntotal = sum(rows)",
            "const grown = account.grow().text",
            "const kind = [account instanceof Savings, account instanceof Account, seen.get('a').has(1n), twice(3)].join()",
          ],
          { final: "{{total}} {{grown}} {{kind}}" },
        ),
        replyJson("const third = [total, account.text, rows.length, new Savings('Bob', 1).grow().balance].join()", {
          final: "third",
        }),
      ],
    });
    assert.equal((await user.run(["run", "make"])).stdout, "made 3\n");
    const second = await user.run(["run", "--continue", "use"]);
    assert.equal(second.stdout, "7 Ann:30 true,true,true,21\n", second.stderr);
    assert.match(second.stderr, / · 1 earlier$/m);
    const { context } = user.mock.requests[1] ?? { context: "" };
    assert.match(context, /lay the ground/);
    assert.match(context, /made 3/);
    assert.match(context, /<var_index>[\s\S]*rows[\s\S]*Rows of the report[\s\S]*<\/var_index>/);
    assert.match(context, /hidden.*lost: an instance of Hidden, which has private fields/);
    const third = await user.run(["run", "-c", "again"]);
    assert.equal(third.stdout, "7,Ann:30,3,3\n", third.stderr);
    assert.equal((await user.queries()).queries.length, 3);
  });

  launched(launcher, "vis run chooses the conversation that is meant", async (t) => {
    await together(t, {
      "-c without an earlier one begins one": withUser(async (user) => {
        const ran = await user.run(["run", "-c", "x"]);
        assert.deepEqual([ran.code, ran.stdout], [0, "Yes it is\n"]);
        assert.doesNotMatch(ran.stderr, /earlier/);
      }, { reply: final("Yes it is") }),
      "-c is of this workspace, whatever its path is called": withUser(async (user) => {
        await Deno.mkdir(user.path("other"));
        await Deno.symlink(user.workspace, user.path("link"));
        await user.run(["run", "one"]);
        await user.run(["run", "two", "--cwd", user.path("other")]);
        await user.run(["run", "-c", "three", "--cwd", user.path("link")]);
        const { queries } = await user.queries();
        assert.deepEqual(queries.map(({ text }) => text), ["one", "three"]);
      }, { reply: final("Yes it is") }),
      "without -c a new one begins and knows nothing": withUser(async (user) => {
        await user.run(["run", "one"]);
        await user.run(["run", "two"]);
        assert.deepEqual((await user.queries()).queries.map(({ text }) => text), ["two"]);
        assert.doesNotMatch(user.mock.requests[1]?.context ?? "", /hidden|Yes it is/);
      }, { reply: replyJson("const hidden = 1", { final: "Yes it is" }) }),
      "--conversation takes an id or its beginning": withUser(async (user) => {
        const { conversationId } = JSON.parse((await user.run(["run", "--output", "json", "one"])).stdout);
        await user.run(["run", "two"]);
        for (const id of [conversationId, conversationId.slice(0, 18)]) {
          const ran = await user.run(["run", "--output", "json", "--conversation", id, "three"]);
          assert.equal(JSON.parse(ran.stdout).conversationId, conversationId);
        }
        const short = await user.run(["run", "--conversation", conversationId.slice(0, 4), "x"]);
        assert.deepEqual([short.code, short.stdout], [2, ""]);
      }, { reply: final("Yes it is") }),
      "a file database moves between workspaces": withUser(async (user) => {
        const { conversationId } = JSON.parse(
          (await user.run(["run", "--output", "json", "--db", user.path("x.db"), "one"])).stdout,
        );
        await Deno.mkdir(user.path("other"));
        const args = ["run", "--db", user.path("x.db"), "--cwd", user.path("other"), "--conversation", conversationId];
        assert.equal((await user.run([...args, "two"])).stdout, "it lives: 1\n");
      }, { reply: [replyJson("const kept = 1", { final: "Yes it is" }), final("it lives: {{kept}}")] }),
    });
  });

  launched(launcher, "vis run works in one database from several processes at once", async () => {
    await using user = await User.make(launcher, {
      handler: ({ texts }) =>
        replyJson(`const word = ${JSON.stringify(/word-\d/.exec(texts[1] ?? "")?.[0])}`, { final: "word" }),
    });
    const numbers = [1, 2, 3, 4];
    const ran = await Promise.all(numbers.map((at) => user.run(["run", `word-${at}`])));
    assert.deepEqual(ran.map(({ code, stdout }) => [code, stdout]), numbers.map((at) => [0, `word-${at}\n`]));
    const listed = await user.look((store) => store.listConversations({ limit: 10 }));
    assert.deepEqual(listed.map(({ title }) => title).sort(), numbers.map((at) => `word-${at}`));
  });
}
