import { compiledProgram } from "../../helpers/compiled_program.ts";
import { attacksSuite } from "./suite.ts";

const { path, missing, ready } = await compiledProgram();
attacksSuite({ way: "compiled", program: { path, args: ["__sandbox_child"] }, missing, ready });
