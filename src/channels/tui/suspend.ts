/** Stops the program until the shell's `fg`. */
export function suspend({ giveUp, take }: { readonly giveUp: () => void; readonly take: () => void }): void {
  if (Deno.build.os === "windows") return;
  giveUp();
  const back = (): void => {
    Deno.removeSignalListener("SIGCONT", back);
    take();
  };
  Deno.addSignalListener("SIGCONT", back);
  Deno.kill(Deno.pid, "SIGSTOP");
}
