/* Starts a confined program and stays as the first process around it. The executable has no libc and is about 3 KB.
 * `scripts/generate/init.ts` compiles this file.
 *
 * The standard input begins with the length of a plan and the plan (plan_format.ts); the rest is the input of the
 * program. The plan is an image in which some words point to other places of the image. This process makes the system
 * calls of the plan, and ends if a call fails, before the program has run. If a call makes a process, the new process
 * continues with the plan; the process before it waits for its end, and then ends in the same way.
 *
 * After the plan, this process starts the program in a session of its own and collects processes without a parent. In a
 * pid namespace, this process ends with the program, and the kernel then ends all other processes of the namespace.
 * Otherwise, this process ends when all processes below it have ended.
 *
 * This process passes SIGTERM from Vis on: to all other processes of its pid namespace, otherwise to the group of the
 * program. In a pid namespace, SIGUSR1 ends all processes. This process reports to Vis in lines on stderr that begin
 * with the token: the fault of a step, "begun", "cannot ERRNO", "signal NUMBER", "left". */

typedef long word;
typedef unsigned long size;

struct step {
  int call, other; /* The number of a system call, or SAME_BYTES; a second result with which the plan continues. */
  word args[5];
  word wanted;
  const char *fault; /* Null if the result does not matter. */
};

struct plan {
  size pointers, pointer_count; /* The list of the places of all pointers in the image. */
  size step_count;
  const char *token;
  char **argv, **env;
  struct step steps[];
};

enum { EPERM = 1, ENOENT = 2, EACCES = 13, ENOTDIR = 20 };
enum { SIGKILL = 9, SIGUSR1 = 10, SIGTERM = 15, SIGCHLD = 17 };
enum { POLLIN = 1, POLLERR = 8, POLLHUP = 16 };
enum { SIG_BLOCK = 0, SIG_SETMASK = 2, WNOHANG = 1, X_OK = 1, AT_FDCWD = -100 };
enum { PR_SET_DUMPABLE = 4, PR_SET_CHILD_SUBREAPER = 36 };
enum { SFD_NONBLOCK_CLOEXEC = 02004000, O_NONBLOCK = 04000, O_CLOEXEC = 02000000 };
enum { F_SETFL = 4, F_DUPFD_CLOEXEC = 1030 };
enum { STDIN = 0, STDERR = 2, FAILED = 125, PATH_BYTES = 4096, INFO_BYTES = 128, SENDER_AT = 3 };
enum { IMAGE_BYTES = 8 << 20, LINE_BYTES = 8192, NUMBER_BYTES = 16, RELAY_BYTES = 1 << 16, MOST_PIPE_BYTES = 1 << 20 };
/* Not a system call: compares the bytes at two places, with the result 0 if they differ, otherwise 1. */
enum { SAME_BYTES = -1 };

#if defined(__x86_64__)
enum {
  READ = 0, WRITE = 1, RT_SIGPROCMASK = 14, GETPID = 39, CLONE = 56, EXECVE = 59, WAIT4 = 61, KILL = 62, SETSID = 112,
  PRCTL = 157, EXIT_GROUP = 231, FACCESSAT = 269, PPOLL = 271, SIGNALFD4 = 289, CLOSE = 3, FCNTL = 72, DUP3 = 292,
  PIPE2 = 293
};
__asm__(".globl _start\n_start:\n xor %ebp, %ebp\n and $-16, %rsp\n call run\n");

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
  SETSID = 157, PRCTL = 167, EXIT_GROUP = 94, FACCESSAT = 48, PPOLL = 73, SIGNALFD4 = 74, CLOSE = 57, FCNTL = 25,
  DUP3 = 24, PIPE2 = 59
};
__asm__(".globl _start\n_start:\n mov x29, xzr\n bl run\n");

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

/* One word more than a plan may have, so that the last text has an end. */
static word image[IMAGE_BYTES / sizeof(word) + 1];
static struct plan *const plan = (struct plan *)image;

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

__attribute__((noreturn)) static void leave(int code) {
  for (;;) CALL(EXIT_GROUP, code, 0, 0, 0);
}

/* The pipe to Vis. The program has another pipe for its errors, because a process that can write to a pipe can also
 * open the pipe for reading, and would read the token. */
static int said;
/* Both ends of the pipe for the errors of the program. */
static int errors[2];

/* Writes a line to Vis: `what`, and then `between` and the number if the number is not negative. */
static void say(const char *what, const char *between, word number) {
  static char line[LINE_BYTES];
  const word most = sizeof line - NUMBER_BYTES;
  word at = copy(line, plan->token, most);
  line[at++] = ' ';
  at += copy(line + at, what, most - at);
  if (number >= 0) {
    at += copy(line + at, between, most - at);
    line[at++] = ' ';
    if (number >= 100) line[at++] = '0' + number / 100 % 10;
    if (number >= 10) line[at++] = '0' + number / 10 % 10;
    line[at++] = '0' + number % 10;
  }
  line[at++] = '\n';
  CALL(WRITE, said, line, at, 0);
}

static void read_exactly(void *into, size length) {
  for (size at = 0; at < length;) {
    word count = CALL(READ, STDIN, (char *)into + at, length - at, 0);
    if (count <= 0) leave(FAILED);
    at += count;
  }
}

static void read_plan(void) {
  unsigned length = 0;
  read_exactly(&length, sizeof length);
  if (length > IMAGE_BYTES || length % sizeof(word) || length < sizeof(struct plan)) leave(FAILED);
  read_exactly(image, length);

  const size words = length / sizeof(word), count = plan->pointer_count, list = plan->pointers / sizeof(word);
  if (list > words || count > words - list) leave(FAILED);
  if (plan->step_count > (length - sizeof(struct plan)) / sizeof(struct step)) leave(FAILED);
  for (size at = list; at < list + count; at++) {
    const size place = image[at] / sizeof(word);
    if (place >= list || (size)image[place] >= length) leave(FAILED);
    image[place] += (word)image;
  }
}

/* Returns 0 if the bytes differ, otherwise 1. */
static word same_bytes(const char *one, const char *other, word length) {
  for (word at = 0; at < length; at++) {
    if (one[at] != other[at]) return 0;
  }
  return 1;
}

/* Waits for the end of the process, and then ends in the same way. */
static void follow(word process) {
  int status;
  if (CALL(WAIT4, process, &status, 0, 0) != process) leave(FAILED);
  int signal = status & 0x7f;
  if (signal) CALL(KILL, CALL(GETPID, 0, 0, 0, 0), signal, 0, 0);
  leave(signal ? 128 + signal : status >> 8 & 0xff);
}

static void take_steps(void) {
  for (size at = 0; at < plan->step_count; at++) {
    const struct step *step = &plan->steps[at];
    const word *args = step->args;
    word result = step->call == SAME_BYTES ? same_bytes((const char *)args[0], (const char *)args[1], args[2])
                                       : call(step->call, args[0], args[1], args[2], args[3], args[4]);
    if (step->call == CLONE && result > 0) follow(result);
    if (result == step->wanted || result == step->other || !step->fault) continue;
    say(step->fault, ": errno", result < 0 ? -result : -1);
    leave(FAILED);
  }
}

/* Passes on at most one piece of the program's errors. Returns 0 at their end, and a negative number if no
 * bytes wait. */
static word relay(void) {
  static char piece[RELAY_BYTES];
  word count = CALL(READ, errors[0], piece, sizeof piece, 0);
  for (word at = 0; at < count;) {
    word written = CALL(WRITE, said, piece + at, count - at, 0);
    if (written <= 0) break; /* Vis has ended. */
    at += written;
  }
  return count;
}

/* Passes on the rest of the pipe, which has everything that the program wrote before its end. */
__attribute__((noreturn)) static void end(int code) {
  for (int left = MOST_PIPE_BYTES / RELAY_BYTES; left > 0 && relay() > 0; left--) {}
  leave(code);
}

static int worst;

/* Becomes the program at a path. Returns 0 if the path failed and the next one is worth a try. */
static int attempt(const char *path, char **argv, char **env) {
  int errno = -CALL(EXECVE, path, argv, env, 0);
  int runs = CALL(FACCESSAT, AT_FDCWD, path, X_OK, 0) == 0;
  if (runs ? errno != ENOENT && errno != ENOTDIR : errno == EACCES) worst = errno;
  return runs && errno != ENOENT && errno != ENOTDIR && errno != EACCES;
}

/* Becomes the program at its path, or the first program of this name in PATH that can be run. */
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

__attribute__((noreturn, used)) void run(void) {
  unsigned long all = ~0UL, none = 0;
  CALL(RT_SIGPROCMASK, SIG_BLOCK, &all, 0, sizeof all);
  said = STDERR;
  read_plan();
  take_steps();
  CALL(PRCTL, PR_SET_DUMPABLE, 0, 0, 0);

  int is_first = CALL(GETPID, 0, 0, 0, 0) == 1;
  if (!is_first) CALL(PRCTL, PR_SET_CHILD_SUBREAPER, 1, 0, 0);
  struct { int descriptor; short wanted, got; } polled[] = {{0, POLLIN, 0}, {STDERR, 0, 0}, {-1, POLLIN, 0}};
  polled[0].descriptor = CALL(SIGNALFD4, -1, &all, sizeof all, SFD_NONBLOCK_CLOEXEC);

  /* Vis may have ended before the system call that lets the kernel end this process with Vis. */
  word now[2] = {0, 0};
  CALL(PPOLL, polled + 1, 1, now, 0);
  if (polled[1].got & (POLLERR | POLLHUP)) leave(FAILED);
  said = CALL(FCNTL, STDERR, F_DUPFD_CLOEXEC, STDERR + 1, 0);
  if (said < 0 || CALL(PIPE2, errors, O_CLOEXEC, 0, 0) < 0) leave(FAILED);
  CALL(FCNTL, errors[0], F_SETFL, O_NONBLOCK, 0);
  say("begun", "", -1);

  word program = CALL(CLONE, SIGCHLD, 0, 0, 0);
  if (program == 0) {
    CALL(SETSID, 0, 0, 0, 0);
    CALL(DUP3, errors[1], STDERR, 0, 0);
    CALL(RT_SIGPROCMASK, SIG_SETMASK, &none, 0, sizeof none);
    become(plan->argv, plan->env);
    say("cannot", "", worst);
    leave(FAILED);
  }
  if (program < 0) {
    say("cannot", "", -program);
    leave(FAILED);
  }

  CALL(CLOSE, errors[1], 0, 0, 0);

  int code = -1, told = 0;
  for (;;) {
    for (;;) {
      int status;
      word ended = CALL(WAIT4, -1, &status, WNOHANG, 0);
      if (ended <= 0) {
        if (code < 0) break;
        if (ended == 0 && !told++) say("left", "", -1);
        if (ended < 0 || is_first) end(code);
        break;
      }
      if (ended != program) continue;
      int signal = status & 0x7f;
      code = signal ? 128 + signal : status >> 8 & 0xff;
      if (signal) say("signal", "", signal);
    }
    polled[2].descriptor = errors[0];
    CALL(PPOLL, polled, 3, 0, 0);
    if (polled[1].got & (POLLERR | POLLHUP)) {
      if (!is_first) CALL(KILL, -program, SIGKILL, 0, 0);
      leave(FAILED);
    }
    if (polled[2].got && relay() == 0) errors[0] = -1; /* No process has the other end. */
    int info[INFO_BYTES / sizeof(int)];
    while (CALL(READ, polled[0].descriptor, info, sizeof info, 0) == sizeof info) {
      if (is_first && info[SENDER_AT] != 0) continue; /* A sender outside the namespace has the number 0. */
      if (info[0] == SIGTERM) CALL(KILL, is_first ? -1 : -program, SIGTERM, 0, 0);
      if (info[0] == SIGUSR1 && is_first) {
        say("signal", "", SIGKILL);
        end(128 + SIGKILL);
      }
    }
  }
}
