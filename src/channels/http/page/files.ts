import api from "./api.js" with { type: "text" };
import app from "./app.js" with { type: "text" };
import dom from "./dom.js" with { type: "text" };
import icon from "./icon.svg" with { type: "text" };
import index from "./index.html" with { type: "text" };
import markdown from "./markdown.js" with { type: "text" };
import search from "./search.js" with { type: "text" };
import stream from "./stream.js" with { type: "text" };
import style from "./style.css" with { type: "text" };
import thread from "./thread.js" with { type: "text" };
import turn from "./turn.js" with { type: "text" };
import variables from "./variables.js" with { type: "text" };
import viewer from "./viewer.js" with { type: "text" };

/** Every file of the page by its name. They are part of the executable. */
export const PAGE_FILES: Readonly<Record<string, string>> = {
  "api.js": api,
  "app.js": app,
  "dom.js": dom,
  "icon.svg": icon,
  "index.html": index,
  "markdown.js": markdown,
  "search.js": search,
  "stream.js": stream,
  "style.css": style,
  "thread.js": thread,
  "turn.js": turn,
  "variables.js": variables,
  "viewer.js": viewer,
};
