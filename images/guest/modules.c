/* Drivers from the initramfs: the kernel has ext4 and the console built in, everything virtio is a module. */
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Each before those that need it. No network: a guest has no card. */
static const char *const first[] = {"virtio_ring", "virtio"};
static const char *const mmio[] = {"virtio_mmio"};
static const char *const pci[] = {"virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci"};
static const char *const devices[] = {"virtio_blk", "rng-core", "virtio-rng", "virtio_console"};

static void load(const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/modules/%s.ko", name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  /* Not every kernel has each as a module: what is built in has no file. */
  if (fd < 0) return;
  if (syscall(SYS_finit_module, fd, "", 0) != 0 && errno != EEXIST) complain("module", name);
  close(fd);
}

static void load_all(const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) load(names[i]);
}

void load_modules(bool is_pci) {
  load_all(first, sizeof first / sizeof *first);
  if (is_pci) load_all(pci, sizeof pci / sizeof *pci);
  else load_all(mmio, sizeof mmio / sizeof *mmio);
  load_all(devices, sizeof devices / sizeof *devices);
}
