/*
 * cgroup2: /sys/fs/cgroup/agent for the agent, /sys/fs/cgroup/vitto/<name> for each command. What all commands take
 * together stays below what the machine has, so that neither a fork bomb nor a memory hog reaches the agent.
 */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

#define ALL_PROCESSES "1024"
/* One command's share: a fork bomb leaves the others room to start programs. */
#define COMMAND_PROCESSES "512"
/* For the kernel's own use, init and the agent. */
#define RESERVED_BYTES (48ull << 20)

static bool available;

bool cgroups_available(void) { return available; }

static bool write_file(const char *folder, const char *file, const char *text) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool is_done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  close(fd);
  return is_done;
}

static void path_of(char out[PATH_MAX], const char *name) {
  snprintf(out, PATH_MAX, "%s/vitto/%s", options.cgroup, name);
}

/* What an agent that died has left running: nobody can tell how it ends, so it ends here and its record says cut short. */
static void remove_leftovers(const char *folder) {
  DIR *dir = opendir(folder);
  struct dirent *entry;
  while (dir && (entry = readdir(dir))) {
    if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
    cgroup_signal(entry->d_name, SIGKILL);
    for (int i = 0; i < 50 && !cgroup_remove(entry->d_name); i++) usleep(10000);
  }
  if (dir) closedir(dir);
}

static void set_limits(const char *vitto) {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return;
  unsigned long long total = (unsigned long long)info.totalram * info.mem_unit;
  unsigned long long most = total > 4 * RESERVED_BYTES ? total - RESERVED_BYTES : total / 4 * 3;
  char text[32];
  snprintf(text, sizeof text, "%llu", most);
  if (!write_file(vitto, "memory.max", text)) say("no memory limit: %s", strerror(errno));
  if (!write_file(vitto, "pids.max", ALL_PROCESSES)) say("no limit of processes: %s", strerror(errno));
  write_file(vitto, "cpu.weight", "100");
}

void cgroups_prepare(void) {
  struct statfs fs;
  if (geteuid() != 0 || statfs(options.cgroup, &fs) != 0 || fs.f_type != CGROUP2_SUPER_MAGIC) return;
  char agent[PATH_MAX], vitto[PATH_MAX], pid[16];
  snprintf(agent, sizeof agent, "%s/agent", options.cgroup);
  snprintf(vitto, sizeof vitto, "%s/vitto", options.cgroup);
  write_file(options.cgroup, "cgroup.subtree_control", "+cpu +memory +pids");
  if ((mkdir(agent, 0755) != 0 && errno != EEXIST) || (mkdir(vitto, 0755) != 0 && errno != EEXIST)) {
    say("no cgroups: %s", strerror(errno));
    return;
  }
  available = true;
  write_file(vitto, "cgroup.subtree_control", "+memory +pids");
  set_limits(vitto);
  snprintf(pid, sizeof pid, "%d", (int)getpid());
  write_file(agent, "cgroup.procs", pid);
  write_file(agent, "cpu.weight", "10000");
  remove_leftovers(vitto);
}

bool cgroup_make(const char *name) {
  char path[PATH_MAX];
  path_of(path, name);
  if (!available) return false;
  if (mkdir(path, 0755) != 0 && errno != EEXIST) return false;
  write_file(path, "pids.max", COMMAND_PROCESSES);
  return true;
}

void cgroup_enter(const char *name) {
  char path[PATH_MAX];
  path_of(path, name);
  if (available) write_file(path, "cgroup.procs", "0");
}

/* Sends `signal` (0: none) to every process of the cgroup and says how many there are. */
static int walk(const char *name, int signal) {
  char path[PATH_MAX], line[32];
  snprintf(path, sizeof path, "%s/vitto/%s/cgroup.procs", options.cgroup, name);
  FILE *file = available ? fopen(path, "re") : NULL;
  int count = 0;
  while (file && fgets(line, sizeof line, file)) {
    pid_t pid = atoi(line);
    if (pid <= 0) continue;
    count++;
    if (signal) kill(pid, signal);
  }
  if (file) fclose(file);
  return count;
}

int cgroup_count(const char *name) { return walk(name, 0); }

void cgroup_signal(const char *name, int signal) {
  char path[PATH_MAX];
  path_of(path, name);
  if (!available) return;
  /* Atomic, where a walk could be outrun by forks; kernels before 5.14 lack it. */
  if (signal == SIGKILL && write_file(path, "cgroup.kill", "1")) return;
  for (int i = 0; i < 100; i++) {
    if (walk(name, signal) == 0 || signal != SIGKILL) return;
  }
}

bool cgroup_remove(const char *name) {
  char path[PATH_MAX];
  path_of(path, name);
  return !available || rmdir(path) == 0 || errno == ENOENT;
}

uint64_t cgroup_event(const char *name, const char *file, const char *key) {
  char path[PATH_MAX], word[64];
  unsigned long long value, found = 0;
  snprintf(path, sizeof path, "%s/vitto/%s/%s", options.cgroup, name, file);
  FILE *events = available ? fopen(path, "re") : NULL;
  while (events && fscanf(events, "%63s %llu", word, &value) == 2) {
    if (strcmp(word, key) == 0) found = value;
  }
  if (events) fclose(events);
  return found;
}
