/* Whom commands and file calls run as. /etc/passwd and /etc/group are read here, because a static program has no NSS. */
#include "agent.h"

#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

struct account user_account;

static FILE *open_table(const char *name) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/etc/%s", options.root, name);
  return fopen(path, "re");
}

static bool has_member(char *members, const char *user) {
  char *rest = NULL;
  for (char *m = strtok_r(members, ",\n", &rest); m; m = strtok_r(NULL, ",\n", &rest)) {
    if (strcmp(m, user) == 0) return true;
  }
  return false;
}

static void load_groups(struct account *account, const char *user) {
  FILE *table = open_table("group");
  char line[8192];
  account->groups[account->group_count++] = account->gid;
  while (table && account->group_count < 64 && fgets(line, sizeof line, table)) {
    char *rest = line;
    strsep(&rest, ":");
    strsep(&rest, ":");
    char *gid = strsep(&rest, ":");
    if (gid && rest && has_member(rest, user)) {
      account->groups[account->group_count++] = (gid_t)strtoul(gid, NULL, 10);
    }
  }
  if (table) fclose(table);
}

void account_load(struct account *account, const char *user) {
  memset(account, 0, sizeof *account);
  if (geteuid() != 0) return;
  FILE *table = open_table("passwd");
  char line[1024];
  while (table && !account->is_set && fgets(line, sizeof line, table)) {
    char *rest = line;
    char *name = strsep(&rest, ":");
    strsep(&rest, ":");
    char *uid = strsep(&rest, ":");
    char *gid = strsep(&rest, ":");
    if (!gid || strcmp(name, user) != 0) continue;
    account->uid = (uid_t)strtoul(uid, NULL, 10);
    account->gid = (gid_t)strtoul(gid, NULL, 10);
    account->is_set = true;
  }
  if (table) fclose(table);
  if (account->is_set) load_groups(account, user);
}

/* The kernel takes the capabilities over files from a root whose fsuid is another's, so this is the user's own reach. */
void act_as(const struct account *account) {
  if (!account || !account->is_set) return;
  if (setgroups((size_t)account->group_count, account->groups) != 0) abort();
  setfsgid(account->gid);
  setfsuid(account->uid);
  if ((uid_t)setfsuid((uid_t)-1) != account->uid) abort();
}

void act_as_self(void) {
  if (geteuid() != 0) return;
  setfsuid(0);
  setfsgid(0);
  if (setgroups(0, NULL) != 0) abort();
}
