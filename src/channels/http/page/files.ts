import actions from "./actions.js" with { type: "text" };
import api from "./api.js" with { type: "text" };
import app from "./app.js" with { type: "text" };
import ask from "./ask.js" with { type: "text" };
import baseStyle from "./style/base.css" with { type: "text" };
import code from "./code.js" with { type: "text" };
import copy from "./copy.js" with { type: "text" };
import dom from "./dom.js" with { type: "text" };
import end from "./end.js" with { type: "text" };
import frameStyle from "./style/frame.css" with { type: "text" };
import graph from "./graph.js" with { type: "text" };
import hello from "./hello.js" with { type: "text" };
import icon from "./style/icon.svg" with { type: "text" };
import index from "./index.html" with { type: "text" };
import inspector from "./inspector.js" with { type: "text" };
import keys from "./keys.js" with { type: "text" };
import layout from "./layout.js" with { type: "text" };
import markdown from "./markdown.js" with { type: "text" };
import printStyle from "./style/print.css" with { type: "text" };
import search from "./search.js" with { type: "text" };
import sidebar from "./sidebar.js" with { type: "text" };
import step from "./step.js" with { type: "text" };
import steps from "./steps.js" with { type: "text" };
import stream from "./stream.js" with { type: "text" };
import threadStyle from "./style/thread.css" with { type: "text" };
import thread from "./thread.js" with { type: "text" };
import turn from "./turn.js" with { type: "text" };
import variables from "./variables.js" with { type: "text" };
import viewerStyle from "./style/viewer.css" with { type: "text" };
import viewer from "./viewer.js" with { type: "text" };

/** Every file of the page, by name. They are part of the executable. */
export const PAGE_FILES: Readonly<Record<string, string>> = {
  "actions.js": actions,
  "api.js": api,
  "app.js": app,
  "ask.js": ask,
  "base.css": baseStyle,
  "code.js": code,
  "copy.js": copy,
  "dom.js": dom,
  "end.js": end,
  "frame.css": frameStyle,
  "graph.js": graph,
  "hello.js": hello,
  "icon.svg": icon,
  "index.html": index,
  "inspector.js": inspector,
  "keys.js": keys,
  "layout.js": layout,
  "markdown.js": markdown,
  "print.css": printStyle,
  "search.js": search,
  "sidebar.js": sidebar,
  "step.js": step,
  "steps.js": steps,
  "stream.js": stream,
  "thread.css": threadStyle,
  "thread.js": thread,
  "turn.js": turn,
  "variables.js": variables,
  "viewer.css": viewerStyle,
  "viewer.js": viewer,
};
