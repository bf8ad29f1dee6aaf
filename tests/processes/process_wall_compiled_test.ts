import { EXEC_ARGUMENT } from "../../src/sandbox/exec/exec_policy.ts";
import { compiledProgram } from "../helpers/compiled_program.ts";
import { attacksTogetherSuite } from "./_attacks_suite.ts";
import { killedVisSuite } from "./_killed_vis.ts";
import { mayMake, missing } from "./_place.ts";

const program = await compiledProgram();

const launcher = async () => {
  await program.ready();
  return { path: program.path, args: [EXEC_ARGUMENT] };
};
attacksTogetherSuite({ name: "compiled", missing: missing || program.missing, launcher });
killedVisSuite({ name: "compiled", ignore: !mayMake || program.missing !== "", launcher });
