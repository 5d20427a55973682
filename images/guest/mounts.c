/* File systems: before and after the switch from the initramfs to the disk. */
#include "init.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

struct mounted { const char *source, *at, *type; unsigned long flags; const char *data; mode_t mode; };

static void mount_one(const struct mounted *m) {
  if (mkdir(m->at, m->mode) != 0 && errno != EEXIST) complain("mkdir", m->at);
  if (mount(m->source, m->at, m->type, m->flags, m->data) != 0) complain("mount", m->at);
}

void mount_early(void) {
  static const struct mounted all[] = {
      {"dev", "/dev", "devtmpfs", MS_NOSUID, "mode=755", 0755},
      {"proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL, 0555},
      {"sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL, 0555},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) mount_one(&all[i]);
}

/* The disk comes a moment after its driver. */
bool mount_root(void) {
  if (mkdir("/root", 0700) != 0 && errno != EEXIST) complain("mkdir", "/root");
  for (int i = 0; i < 5000; i++) {
    if (mount("/dev/vda", "/root", "ext4", MS_NOATIME, "discard") == 0) return true;
    if (errno != ENOENT && errno != ENXIO && errno != ENODEV) break;
    usleep(2000);
  }
  complain("mount", "/dev/vda");
  return false;
}

bool switch_root(void) {
  static const char *const kept[] = {"/dev", "/root/dev", "/proc", "/root/proc", "/sys", "/root/sys"};
  for (size_t i = 0; i < 6; i += 2) {
    if (mount(kept[i], kept[i + 1], NULL, MS_MOVE, NULL) != 0) complain("move", kept[i]);
  }
  if (chdir("/root") != 0 || mount(".", "/", NULL, MS_MOVE, NULL) != 0 || chroot(".") != 0 || chdir("/") != 0) {
    complain("switch", "/root");
    return false;
  }
  return true;
}

static void link_one(const char *to, const char *at) {
  if (symlink(to, at) != 0 && errno != EEXIST) complain("link", at);
}

void mount_late(void) {
  static const struct mounted all[] = {
      {"devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "gid=5,mode=620,ptmxmode=666", 0755},
      {"tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777", 01777},
      {"tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755", 0755},
      {"cgroup2", "/sys/fs/cgroup", "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL, 0755},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) mount_one(&all[i]);
  /* sshd's privilege separation, lock files of programs, the agent's socket. */
  if (mkdir("/run/sshd", 0755) != 0 || mkdir("/run/lock", 01777) != 0 || mkdir("/run/vitto", 0755) != 0) {
    complain("mkdir", "/run");
  }
  if (chmod("/run/lock", 01777) != 0 || chmod("/tmp", 01777) != 0) complain("chmod", "/tmp");
  link_one("/proc/self/fd", "/dev/fd");
  link_one("/proc/self/fd/0", "/dev/stdin");
  link_one("/proc/self/fd/1", "/dev/stdout");
  link_one("/proc/self/fd/2", "/dev/stderr");
}
