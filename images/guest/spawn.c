/* Starts a program in a session, process group and cgroup of its own, as root or as the user. */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_VARIABLE "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static void write_text(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, text, strlen(text)) < 0) { /* Only a wish: an unprivileged agent may not. */ }
  close(fd);
}

static void give_defaults(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  setsid();
  umask(022);
  /* The agent is spared by the OOM killer; what it starts is not. */
  if (geteuid() == 0) write_text("/proc/self/oom_score_adj", "0");
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  struct rlimit files = {1024, 65536};
  setrlimit(RLIMIT_NOFILE, &files);
}

static bool become(const struct account *account) {
  if (!account || !account->is_set) return true;
  return setgroups((size_t)account->group_count, account->groups) == 0 &&
         setresgid(account->gid, account->gid, account->gid) == 0 &&
         setresuid(account->uid, account->uid, account->uid) == 0;
}

static void fail(int report, bool is_directory, int error) {
  struct spawn_failure failure = {is_directory, error};
  if (write(report, &failure, sizeof failure) < 0) { /* The agent is gone; so are we. */ }
  _exit(127);
}

/* 0, 1 and 2 may be among the descriptors that go there: they are first moved out of the way. */
static bool place(const struct spawn *s) {
  int in = fcntl(s->in, F_DUPFD_CLOEXEC, 3), out = fcntl(s->out, F_DUPFD_CLOEXEC, 3);
  int err = fcntl(s->err, F_DUPFD_CLOEXEC, 3);
  return in >= 0 && out >= 0 && err >= 0 && dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0;
}

static void run_child(const struct spawn *s, int report) {
  if (s->cgroup) cgroup_enter(s->cgroup);
  give_defaults();
  if (!place(s) || !become(s->account)) fail(report, false, errno);
  if (s->directory && chdir(s->directory) != 0) fail(report, true, errno);
  execvpe(s->argv[0], s->argv, s->env);
  fail(report, false, errno);
}

/* execvpe looks along the PATH of the caller's environment, which is to be the command's. */
static void set_search_path(char **env) {
  for (; *env; env++) {
    if (strncmp(*env, "PATH=", 5) == 0) setenv("PATH", *env + 5, 1);
  }
}

pid_t spawn_program(const struct spawn *spawn) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return -1;
  pid_t pid = fork();
  if (pid == 0) {
    close(report[0]);
    set_search_path(spawn->env);
    run_child(spawn, report[1]);
  }
  int error = errno;
  close(report[1]);
  if (pid < 0 || !spawn->status) close(report[0]);
  else *spawn->status = report[0];
  errno = error;
  return pid;
}

static size_t name_length(const char *variable) { return strcspn(variable, "=") + 1; }

char **command_environment(char **extra, size_t n, bool as_root) {
  static char home[PATH_MAX + 8], user[300], logname[300];
  const char *who = as_root ? "root" : options.user;
  snprintf(home, sizeof home, "HOME=%s", as_root ? "/root" : options.home);
  snprintf(user, sizeof user, "USER=%s", who);
  snprintf(logname, sizeof logname, "LOGNAME=%s", who);
  char *base[] = {
      PATH_VARIABLE, home, user, logname, "SHELL=/bin/bash", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TERM=dumb",
      "http_proxy=http://127.0.0.1:3128", "https_proxy=http://127.0.0.1:3128",
      "HTTP_PROXY=http://127.0.0.1:3128", "HTTPS_PROXY=http://127.0.0.1:3128",
      "no_proxy=localhost,127.0.0.1", "NO_PROXY=localhost,127.0.0.1", "NODE_USE_ENV_PROXY=1", "GIT_SSH_COMMAND=vitto-git-ssh", "GIT_SSH_VARIANT=ssh",
      "GIT_TERMINAL_PROMPT=0", "DEBIAN_FRONTEND=noninteractive",
  };
  size_t base_count = sizeof base / sizeof *base, used = 0;
  char **env = must_alloc((base_count + n + 1) * sizeof *env);
  for (size_t i = 0; i < base_count; i++) {
    bool is_replaced = false;
    for (size_t j = 0; j < n; j++) is_replaced |= strncmp(base[i], extra[j], name_length(base[i])) == 0;
    if (!is_replaced) env[used++] = base[i];
  }
  for (size_t i = 0; i < n; i++) env[used++] = extra[i];
  env[used] = NULL;
  return env;
}
