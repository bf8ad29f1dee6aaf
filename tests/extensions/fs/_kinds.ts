const RM = (path: string, text: string, mode = 100644) =>
  `diff --git a/${path} b/${path}\ndeleted file mode ${mode}\n--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-${text}\n` +
  (mode === 120000 ? "\\ No newline at end of file\n" : "");
const ADD = (path: string) =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+new\n`;
export const KINDS = RM("a.txt", "a") + ADD("a.txt/deep/x") + ADD("a.txt/y") + RM("src/c.txt", "c") +
  RM("src/deep/d.txt", "d") + RM("src/link", "c.txt", 120000) + ADD("src");
