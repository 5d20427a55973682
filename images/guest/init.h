#ifndef VITTO_INIT_H
#define VITTO_INIT_H

#include <stdbool.h>

/* init.c: a line on the console, by which the host also times the stages of a boot. */
void mark(const char *stage);
void complain(const char *what, const char *which);

/* mounts.c */
void mount_early(void);
bool mount_root(void);
bool switch_root(void);
void mount_late(void);

/* modules.c: loads what the bus needs, in order, from the initramfs. */
void load_modules(bool is_pci);

#endif
