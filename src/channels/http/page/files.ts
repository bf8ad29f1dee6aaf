import app from "./app.js" with { type: "text" };
import index from "./index.html" with { type: "text" };

/** Every file of the page by its name. They are part of the executable. */
export const PAGE_FILES: Readonly<Record<string, string>> = {
  "index.html": index,
  "app.js": app,
};
