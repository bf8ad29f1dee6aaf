/* The first process around a confined program. It has no libc and is about 2 KB. `scripts/generate/init.ts` compiles it.
 *
 * Its arguments are a token and the program with its arguments. It starts the program in a session of its own, reaps
 * what is left without a parent, and ends with the program. As the first process of a pid namespace, it takes every
 * other process with it: the kernel ends them.
 *
 * SIGTERM from Vis is passed on to the program and all that it started; SIGUSR1 ends everything at once. It tells Vis by lines on stderr that begin with the token: "begun", "cannot ERRNO", "signal NUMBER", "left". */

typedef long word;

enum { EPERM = 1, ENOENT = 2, EACCES = 13, ENOTDIR = 20 };
enum { SIGKILL = 9, SIGUSR1 = 10, SIGTERM = 15, SIGCHLD = 17 };
enum { POLLIN = 1, POLLERR = 8, POLLHUP = 16 };
enum { SIG_BLOCK = 0, SIG_SETMASK = 2, WNOHANG = 1, X_OK = 1, AT_FDCWD = -100 };
enum { PR_SET_DUMPABLE = 4, PR_SET_CHILD_SUBREAPER = 36 };
enum { SFD_NONBLOCK_CLOEXEC = 02004000 };
enum { STDERR = 2, FAILED = 125, PATH_BYTES = 4096, INFO_BYTES = 128, SENDER_AT = 3 };

#if defined(__x86_64__)
enum {
  READ = 0, WRITE = 1, RT_SIGPROCMASK = 14, GETPID = 39, CLONE = 56, EXECVE = 59, WAIT4 = 61, KILL = 62, SETSID = 112,
  PRCTL = 157, EXIT_GROUP = 231, FACCESSAT = 269, PPOLL = 271, SIGNALFD4 = 289
};
__asm__(".globl _start\n_start:\n xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call run\n");

static word call(word number, word a, word b, word c, word d, word e) {
  register word r10 __asm__("r10") = d;
  register word r8 __asm__("r8") = e;
  word result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
enum {
  READ = 63, WRITE = 64, RT_SIGPROCMASK = 135, GETPID = 172, CLONE = 220, EXECVE = 221, WAIT4 = 260, KILL = 129,
  SETSID = 157, PRCTL = 167, EXIT_GROUP = 94, FACCESSAT = 48, PPOLL = 73, SIGNALFD4 = 74
};
__asm__(".globl _start\n_start:\n mov x29, xzr\n mov x0, sp\n bl run\n");

static word call(word number, word a, word b, word c, word d, word e) {
  register word x8 __asm__("x8") = number;
  register word x0 __asm__("x0") = a;
  register word x1 __asm__("x1") = b;
  register word x2 __asm__("x2") = c;
  register word x3 __asm__("x3") = d;
  register word x4 __asm__("x4") = e;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
}
#endif

#define CALL(number, a, b, c, d) call(number, (word)(a), (word)(b), (word)(c), (word)(d), 0)

static char token[64];

static word length(const char *text) {
  word at = 0;
  while (text[at]) at++;
  return at;
}

static word copy(char *into, const char *text, word most) {
  word at = 0;
  while (at < most && text[at]) {
    into[at] = text[at];
    at++;
  }
  return at;
}

static void leave(int code) {
  for (;;) CALL(EXIT_GROUP, code, 0, 0, 0);
}

/* One write, which a pipe takes as a whole. */
static void say(const char *what, word number) {
  char line[128];
  word at = copy(line, token, sizeof token);
  line[at++] = ' ';
  at += copy(line + at, what, 16);
  if (number >= 0) {
    line[at++] = ' ';
    if (number >= 100) line[at++] = '0' + number / 100 % 10;
    if (number >= 10) line[at++] = '0' + number / 10 % 10;
    line[at++] = '0' + number % 10;
  }
  line[at++] = '\n';
  CALL(WRITE, STDERR, line, at, 0);
}

static int worst;

/* Returns 0 if the next candidate is worth a try. */
static int attempt(const char *path, char **argv, char **env) {
  int errno = -CALL(EXECVE, path, argv, env, 0);
  int runs = CALL(FACCESSAT, AT_FDCWD, path, X_OK, 0) == 0;
  if (runs ? errno != ENOENT && errno != ENOTDIR : errno == EACCES) worst = errno;
  return runs && errno != ENOENT && errno != ENOTDIR && errno != EACCES;
}

/* Becomes the program, by its path or the first one in PATH that can be run. */
static void become(char **argv, char **env) {
  const char *name = argv[0];
  worst = ENOENT;
  for (const char *at = name; *at; at++) {
    if (*at != '/') continue;
    attempt(name, argv, env);
    return;
  }
  const char *path = "";
  for (char **one = env; *one; one++) {
    const char *text = *one;
    if (text[0] == 'P' && text[1] == 'A' && text[2] == 'T' && text[3] == 'H' && text[4] == '=') path = text + 5;
  }
  while (*path) {
    char full[PATH_BYTES + 1];
    word at = 0;
    int whole = *path == '/';
    for (; *path && *path != ':'; path++) {
      if (at < PATH_BYTES) full[at++] = *path;
      else whole = 0;
    }
    if (*path == ':') path++;
    if (!whole || at + 1 + length(name) > PATH_BYTES) continue;
    full[at++] = '/';
    at += copy(full + at, name, PATH_BYTES - at);
    full[at] = 0;
    if (attempt(full, argv, env)) return;
  }
}

__attribute__((noreturn, used)) void run(word *stack) {
  int argc = stack[0];
  char **argv = (char **)(stack + 1);
  char **env = argv + argc + 1;
  if (argc < 2) leave(FAILED);
  CALL(PRCTL, PR_SET_DUMPABLE, 0, 0, 0);
  copy(token, argv[0], sizeof token - 1);
  for (char *at = argv[0]; *at; at++) *at = '-'; /* the program could read it in /proc */
  argv++;

  int is_first = CALL(GETPID, 0, 0, 0, 0) == 1;
  if (!is_first) CALL(PRCTL, PR_SET_CHILD_SUBREAPER, 1, 0, 0);
  unsigned long all = ~0UL, none = 0;
  CALL(RT_SIGPROCMASK, SIG_BLOCK, &all, 0, sizeof all);
  struct { int descriptor; short wanted, got; } polled[] = {{0, POLLIN, 0}, {STDERR, 0, 0}};
  polled[0].descriptor = CALL(SIGNALFD4, -1, &all, sizeof all, SFD_NONBLOCK_CLOEXEC);

  /* Vis may have ended before the kernel was told to end this process with it. */
  word now[2] = {0, 0};
  CALL(PPOLL, polled + 1, 1, now, 0);
  if (polled[1].got & (POLLERR | POLLHUP)) leave(FAILED);
  say("begun", -1);

  word program = CALL(CLONE, SIGCHLD, 0, 0, 0);
  if (program == 0) {
    CALL(SETSID, 0, 0, 0, 0);
    CALL(RT_SIGPROCMASK, SIG_SETMASK, &none, 0, sizeof none);
    become(argv, env);
    say("cannot", worst);
    leave(FAILED);
  }
  if (program < 0) {
    say("cannot", -program);
    leave(FAILED);
  }

  int code = -1, told = 0;
  for (;;) {
    for (;;) {
      int status;
      word ended = CALL(WAIT4, -1, &status, WNOHANG, 0);
      if (ended <= 0) {
        if (code < 0) break;
        if (ended == 0 && !told++) say("left", -1);
        if (ended < 0 || is_first) leave(code);
        break;
      }
      if (ended != program) continue;
      int signal = status & 0x7f;
      code = signal ? 128 + signal : status >> 8 & 0xff;
      if (signal) say("signal", signal);
    }
    CALL(PPOLL, polled, 2, 0, 0);
    if (polled[1].got & (POLLERR | POLLHUP)) {
      if (!is_first) CALL(KILL, -program, SIGKILL, 0, 0);
      leave(FAILED);
    }
    int info[INFO_BYTES / sizeof(int)];
    while (CALL(READ, polled[0].descriptor, info, sizeof info, 0) == sizeof info) {
      if (is_first && info[SENDER_AT] != 0) continue; /* who is outside has no number here */
      if (info[0] == SIGTERM) CALL(KILL, is_first ? -1 : -program, SIGTERM, 0, 0);
      if (info[0] == SIGUSR1 && is_first) {
        say("signal", SIGKILL);
        leave(128 + SIGKILL);
      }
    }
  }
}
