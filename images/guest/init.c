/* PID 1 of a guest: brings the machine up from the initramfs, keeps the agent running, ends the machine in order. */
#include "agent.h"
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/reboot.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AGENT "/usr/local/sbin/vitto-agent"

static void print(const char *text) {
  if (write(2, text, strlen(text)) < 0) { /* No console, nobody to tell. */ }
}

void mark(const char *stage) {
  char line[128];
  snprintf(line, sizeof line, "vitto: %s\n", stage);
  print(line);
}

void complain(const char *what, const char *which) {
  char line[256];
  snprintf(line, sizeof line, "vitto: failed to %s %s: %s\n", what, which, strerror(errno));
  print(line);
}

static void open_console(void) {
  int fd = open("/dev/console", O_RDWR | O_NOCTTY);
  if (fd < 0) return;
  for (int i = 0; i < 3; i++) dup2(fd, i);
  if (fd > 2) close(fd);
}

static bool is_asked_for(const char *word) {
  char line[4096] = " ", *at = line;
  int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read(fd, line + 1, sizeof line - 3) : -1;
  if (fd >= 0) close(fd);
  if (n <= 0) return false;
  line[strcspn(line, "\n")] = 0;
  strcat(line, " ");
  size_t size = strlen(word);
  while ((at = strstr(at, word))) {
    if (at[-1] == ' ' && at[size] == ' ') return true;
    at += size;
  }
  return false;
}

static void bring_up_loopback(void) {
  struct ifreq request = {.ifr_name = "lo"};
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  /* The kernel gives lo its 127.0.0.1 by itself when it comes up. */
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) != 0) complain("bring up", "lo");
  if (fd >= 0) close(fd);
}

static void set_name(void) {
  char name[65] = "vitto";
  int fd = open("/etc/hostname", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read(fd, name, sizeof name - 1) : -1;
  if (fd >= 0) close(fd);
  if (n > 0) name[n] = 0;
  name[strcspn(name, "\n")] = 0;
  if (sethostname(name, strlen(name)) != 0) complain("name", name);
}

static pid_t start_agent(void) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  char *argv[] = {"vitto-agent", NULL};
  char *env[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", NULL};
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setsid();
  execve(AGENT, argv, env);
  complain("start", AGENT);
  _exit(127);
}

/* Ends what runs, TERM first; then the disk is written and the machine ends (QEMU runs with -no-reboot). */
static void end_machine(void) {
  struct timespec pause = {0, 20000000};
  mark("ending");
  kill(-1, SIGTERM);
  for (int i = 0; i < 100 && (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD); i++) nanosleep(&pause, NULL);
  kill(-1, SIGKILL);
  while (waitpid(-1, NULL, WNOHANG) > 0) { /* What is stuck in the kernel is not waited for. */ }
  sync();
  if (mount(NULL, "/", NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0) complain("close", "/");
  sync();
  mark("ended");
  reboot(LINUX_REBOOT_CMD_RESTART);
}

/* One child matters, the agent; all others are orphans to be reaped. */
static bool reap(pid_t agent) {
  bool has_died = false;
  for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0;) has_died |= pid == agent;
  return has_died;
}

static void keep_running(void) {
  sigset_t awaited;
  struct timespec again = {1, 0};
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGTERM);
  sigaddset(&awaited, SIGINT);
  sigprocmask(SIG_BLOCK, &awaited, NULL);
  pid_t agent = start_agent();
  for (;;) {
    int signal = sigtimedwait(&awaited, NULL, agent > 0 ? NULL : &again);
    if (signal == SIGTERM || signal == SIGINT) end_machine();
    bool has_died = reap(agent);
    if (!has_died && agent > 0) continue;
    /* Not faster than ten a second, should it die at once each time. */
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    agent = start_agent();
  }
}

int init_main(int argc, char **argv) {
  (void)argc;
  (void)argv;
  mount_early();
  open_console();
  mark("init");
  load_modules(is_asked_for("vitto.bus=pci"));
  mark("modules");
  if (!mount_root() || !switch_root()) reboot(LINUX_REBOOT_CMD_RESTART);
  mount_late();
  mark("mounted");
  reboot(LINUX_REBOOT_CMD_CAD_OFF);
  bring_up_loopback();
  set_name();
  keep_running();
  return 1;
}
