/* The guest agent: one event loop over the channel to the host, the commands and the streams. */
#include "agent.h"
#include "loop.h"
#include "port.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VERSION 1
#define NONCE 16

struct options options = {
    .root = "", .home = "/home/user", .user = "user", .records = "/var/lib/vitto/commands", .run = "/run/vitto",
    .cgroup = "/sys/fs/cgroup", .proxy_port = 3128,
};

void *must_alloc(size_t size) {
  void *memory = malloc(size);
  /* Out of memory in spite of all bounds: init starts the agent again, the host says HELLO again. */
  if (!memory) abort();
  return memory;
}

void say(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "vitto-agent: %s\n", text);
}

static void let_go(void) {
  commands_let_go();
  streams_let_go();
  files_let_go();
  writes_let_go();
  lists_let_go();
  machine_let_go();
}

static bool is_greeted;

static void on_hello(struct cursor *c) {
  uint8_t bytes[NONCE + 4 + 8 + 4];
  struct timespec up;
  const uint8_t *nonce = take_bytes(c, NONCE);
  take_u32(c);
  if (!is_complete(c)) return;
  is_greeted = true;
  channel_forget_output();
  let_go();
  clock_gettime(CLOCK_BOOTTIME, &up);
  memcpy(bytes, nonce, NONCE);
  put_u32(bytes + NONCE, VERSION);
  put_u64(bytes + NONCE + 4, (uint64_t)up.tv_sec * 1000 + (uint64_t)up.tv_nsec / 1000000);
  put_u32(bytes + NONCE + 12, commands_running());
  send_frame(READY, 0, bytes, sizeof bytes);
}

/* Ends the machine through init, which ends everything else in order; on an ordinary host only the agent ends. */
static void shut_down(void) {
  commands_kill_all();
  sync();
  if (!options.socket && !options.stdio) kill(1, SIGTERM);
  else exit(0);
}

static void on_credit(uint32_t id, struct cursor *c) {
  uint32_t more = take_u32(c);
  if (!is_complete(c)) return;
  if (command_credit(id, more) || file_credit(id, more) || list_credit(id, more)) return;
  stream_credit(id, more);
}

static void on_stop(uint32_t id, struct cursor *c) {
  uint32_t grace = take_u32(c);
  if (is_complete(c)) command_stop(id, grace);
}

/* Frames of an id that has ended come late and mean nothing; a type that nobody knows is told. */
static void on_frame(uint8_t type, uint32_t id, const uint8_t *payload, size_t size) {
  struct cursor c = {payload, size, false};
  /* A host that speaks to the agent from before must begin again: by our silence it learns that. */
  if (!is_greeted && type != HELLO) return;
  switch (type) {
    case HELLO: on_hello(&c); break;
    case CREDIT: on_credit(id, &c); break;
    case PING: if (size <= 64) send_frame(PONG, id, payload, size); break;
    case EXEC: command_exec(id, &c); break;
    case STDIN: command_stdin(id, payload, size); break;
    case STOP: on_stop(id, &c); break;
    case RECORD: command_record(id, &c); break;
    case STOP_RECORD: command_stop_record(id, &c); break;
    case READ: file_read(id, &c); break;
    case WRITE: write_begin(id, &c); break;
    case CONTENT: write_content(id, payload, size); break;
    case LIST: list_begin(id, &c); break;
    case RESUME: machine_resume(id, &c); break;
    case SYNC: machine_sync(id); break;
    case SHUTDOWN: shut_down(); break;
    case CONNECT: stream_connect(id, &c); break;
    case BYTES: stream_bytes(id, payload, size); break;
    case RESET:
      if (!file_reset(id) && !write_reset(id) && !list_reset(id)) stream_event(type, id, &c);
      break;
    case END_OF_FILE: case ACCEPTED: stream_event(type, id, &c); break;
    default: send_fail(id, UNSUPPORTED, "no such type of frame");
  }
}

static int open_signals(void) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, NULL);
  signal(SIGPIPE, SIG_IGN);
  return signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void reap(int signals) {
  struct signalfd_siginfo info;
  int status;
  pid_t pid;
  while (read(signals, &info, sizeof info) > 0) { /* One look at all children does for any number of signals. */ }
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    command_child(pid, status);
    machine_child(pid);
  }
}

static void run(int signals) {
  for (;;) {
    poll_begin();
    int slot = poll_add(signals, POLLIN);
    port_poll();
    commands_poll();
    streams_poll();
    bool is_ready = channel_has_room() && (files_wait_for_room() || lists_wait_for_room());
    if (is_ready) poll_by(1);
    poll_wait();
    if (poll_result(slot)) reap(signals);
    port_after_poll(on_frame, let_go);
    commands_after_poll();
    streams_after_poll();
    files_pump();
    lists_pump();
    if (channel_is_open() && channel_has_output()) channel_write();
  }
}

static void make_folders(const char *path) {
  char at[PATH_MAX];
  snprintf(at, sizeof at, "%s/", path);
  for (char *slash = at + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = 0;
    if (mkdir(at, 0755) != 0 && errno != EEXIST) say("%s: %s", at, strerror(errno));
    *slash = '/';
  }
}

static void read_options(int argc, char **argv) {
  static const struct option known[] = {
      {"socket", required_argument, NULL, 's'}, {"stdio", no_argument, NULL, 'i'},
      {"root-dir", required_argument, NULL, 'r'}, {"home", required_argument, NULL, 'h'},
      {"user", required_argument, NULL, 'u'}, {"records", required_argument, NULL, 'c'},
      {"run-dir", required_argument, NULL, 'd'}, {"cgroup", required_argument, NULL, 'g'},
      {"proxy-port", required_argument, NULL, 'p'}, {NULL, 0, NULL, 0},
  };
  for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (option) {
      case 's': options.socket = optarg; break;
      case 'i': options.stdio = true; break;
      case 'r': options.root = optarg; break;
      case 'h': options.home = optarg; break;
      case 'u': options.user = optarg; break;
      case 'c': options.records = optarg; break;
      case 'd': options.run = optarg; break;
      case 'g': options.cgroup = optarg; break;
      case 'p': options.proxy_port = (unsigned)strtoul(optarg, NULL, 10); break;
      default: exit(2);
    }
  }
}

/* The OOM killer is to take anything before the agent. */
static void spare_self(void) {
  FILE *file = fopen("/proc/self/oom_score_adj", "we");
  if (file) fputs("-1000", file);
  if (file) fclose(file);
}

int agent_main(int argc, char **argv) {
  read_options(argc, argv);
  umask(022);
  int signals = open_signals();
  if (!options.socket && !options.stdio) spare_self();
  account_load(&user_account, options.user);
  cgroups_prepare();
  make_folders(options.records);
  chmod(options.records, 0700);
  streams_listen();
  port_open();
  if (!options.socket && !options.stdio) fprintf(stderr, "vitto: agent\n");
  run(signals);
  return 0;
}
