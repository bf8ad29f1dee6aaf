/** The suites are in one file and share one browser, because it takes longer to start than most of these tests. */
import "./access_suite.ts";
import "./approvals_suite.ts";
import "./choices_suite.ts";
import "./commands_suite.ts";
import "./conversation_suite.ts";
import "./hostile_suite.ts";
import "./large_suite.ts";
import "./leaving_suite.ts";
import "./look_suite.ts";
import "./records_suite.ts";
import "./reference_page_suite.ts";
import "./stream_suite.ts";
import "./use_suite.ts";
import "./work_suite.ts";
