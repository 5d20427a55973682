/* Old records make room: the newest 500 are kept, and of these what fits into 64 MiB. */
#include "agent.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_RECORDS 500
#define MOST_BYTES (64ull << 20)

struct kept { char name[65]; int64_t at_ns; uint64_t bytes; };

static uint64_t bytes_of(const char *folder, const char *file) {
  char path[PATH_MAX];
  struct stat st;
  snprintf(path, sizeof path, "%s/%s", folder, file);
  return lstat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

static bool look_at(struct kept *kept, const char *name) {
  char folder[PATH_MAX];
  struct stat st;
  snprintf(folder, sizeof folder, "%s/%s", options.records, name);
  if (!record_name_is_valid(name) || lstat(folder, &st) != 0 || !S_ISDIR(st.st_mode)) return false;
  snprintf(kept->name, sizeof kept->name, "%s", name);
  kept->at_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
  kept->bytes = bytes_of(folder, "stdout") + bytes_of(folder, "stderr");
  return true;
}

static int newest_first(const void *a, const void *b) {
  const struct kept *x = a, *y = b;
  return (x->at_ns < y->at_ns) - (x->at_ns > y->at_ns);
}

static size_t read_all(struct kept **all) {
  DIR *dir = opendir(options.records);
  size_t count = 0, capacity = 0;
  struct dirent *entry;
  while (dir && (entry = readdir(dir))) {
    if (count == capacity) {
      capacity = capacity ? capacity * 2 : 256;
      *all = realloc(*all, capacity * sizeof **all);
      if (!*all) abort();
    }
    if (look_at(*all + count, entry->d_name)) count++;
  }
  if (dir) closedir(dir);
  return count;
}

void records_prune(bool (*is_running)(const char *name)) {
  struct kept *all = NULL;
  size_t count = read_all(&all);
  uint64_t bytes = 0;
  if (count > 0) qsort(all, count, sizeof *all, newest_first);
  for (size_t i = 0; i < count; i++) {
    bytes += all[i].bytes;
    if ((i < MOST_RECORDS && bytes <= MOST_BYTES) || is_running(all[i].name)) continue;
    struct record record = {.out = -1, .err = -1};
    memcpy(record.name, all[i].name, sizeof record.name);
    record_remove(&record);
  }
  free(all);
}
