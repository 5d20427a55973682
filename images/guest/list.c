/* LIST: walks a folder frame by frame, as the host gives credit; links are told, never followed. */
#include "agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_LISTS 16
/* Each level holds a descriptor; what lies deeper is told as a folder and not entered. */
#define MOST_LEVELS 64
#define ENTRY_HEAD 13u

struct level { DIR *dir; size_t prefix; };

struct listing {
  struct listing *next;
  uint32_t id, credit, depth;
  struct level levels[MOST_LEVELS];
  size_t level_count;
  char path[PATH_MAX]; /* below the listed folder, of the entry at hand */
  size_t path_size;
  bool has_entry; /* one that is read and did not fit into the last frame */
  struct stat entry;
};
static struct listing *listings;

static uint8_t type_of(mode_t mode) {
  if (S_ISREG(mode)) return 'f';
  if (S_ISDIR(mode)) return 'd';
  return S_ISLNK(mode) ? 'l' : 'o';
}

static void enter(struct listing *l) {
  struct level *top = &l->levels[l->level_count - 1];
  const char *name = l->path + top->prefix;
  int fd = openat(dirfd(top->dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
  if (!dir) {
    /* Not readable, or gone since: it is listed, what is in it is not. */
    if (fd >= 0) close(fd);
    return;
  }
  l->path[l->path_size] = '/';
  l->levels[l->level_count++] = (struct level){dir, l->path_size + 1};
}

/* Goes to the next entry; false when there is none. */
static bool advance(struct listing *l) {
  while (l->level_count > 0) {
    struct level *top = &l->levels[l->level_count - 1];
    struct dirent *entry = readdir(top->dir);
    if (!entry) {
      closedir(top->dir);
      l->level_count--;
      continue;
    }
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    size_t size = strlen(entry->d_name);
    if (top->prefix + size + 2 > sizeof l->path) continue;
    if (fstatat(dirfd(top->dir), entry->d_name, &l->entry, AT_SYMLINK_NOFOLLOW) != 0) continue;
    memcpy(l->path + top->prefix, entry->d_name, size + 1);
    l->path_size = top->prefix + size;
    return true;
  }
  return false;
}

static size_t put_entry(struct listing *l, uint8_t *at) {
  size_t n = 0;
  at[n++] = type_of(l->entry.st_mode);
  n += put_u64(at + n, S_ISREG(l->entry.st_mode) ? (uint64_t)l->entry.st_size : 0);
  n += put_u32(at + n, (uint32_t)l->path_size);
  memcpy(at + n, l->path, l->path_size);
  return n + l->path_size;
}

/* Sends one frame; false when the listing has ended. */
static bool move(struct listing *l) {
  static uint8_t bytes[MAX_PAYLOAD];
  size_t most = l->credit < sizeof bytes ? l->credit : sizeof bytes, used = 0;
  bool is_over = false;
  while (l->has_entry || (is_over = !advance(l)) == false) {
    l->has_entry = ENTRY_HEAD + l->path_size > most - used;
    if (l->has_entry) break;
    used += put_entry(l, bytes + used);
    if (S_ISDIR(l->entry.st_mode) && l->level_count < l->depth) enter(l);
  }
  if (used > 0) send_frame(ENTRIES, l->id, bytes, used);
  l->credit -= (uint32_t)used;
  if (is_over) send_empty(END, l->id);
  return !is_over;
}

static void remove_listing(struct listing **at) {
  struct listing *l = *at;
  *at = l->next;
  while (l->level_count > 0) closedir(l->levels[--l->level_count].dir);
  free(l);
}

static bool may_move(const struct listing *l) {
  return l->credit >= ENTRY_HEAD + (l->has_entry ? l->path_size : PATH_MAX);
}

void lists_pump(void) {
  for (struct listing **at = &listings; *at && channel_has_room();) {
    if (!may_move(*at)) {
      at = &(*at)->next;
      continue;
    }
    act_as(&user_account);
    bool goes_on = move(*at);
    act_as_self();
    if (goes_on) at = &(*at)->next;
    else remove_listing(at);
  }
}

bool lists_wait_for_room(void) {
  for (struct listing *l = listings; l; l = l->next) {
    if (may_move(l)) return true;
  }
  return false;
}

static bool is_busy(uint32_t id) {
  int count = 0;
  for (struct listing *l = listings; l; l = l->next) {
    count++;
    if (l->id == id) return true;
  }
  return count >= MOST_LISTS;
}

static void begin(uint32_t id, const char *path, uint32_t depth) {
  act_as(&user_account);
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
  int error = errno;
  act_as_self();
  if (!dir) {
    if (fd >= 0) close(fd);
    send_errno(id, error, "list");
    return;
  }
  struct listing *l = must_alloc(sizeof *l);
  memset(l, 0, sizeof *l);
  l->next = listings;
  l->id = id;
  l->credit = WINDOW;
  l->depth = depth < MOST_LEVELS ? depth : MOST_LEVELS;
  l->levels[l->level_count++] = (struct level){dir, 0};
  listings = l;
}

void list_begin(uint32_t id, struct cursor *c) {
  char path[PATH_MAX];
  char *asked = take_string(c, PATH_MAX - 1);
  uint32_t depth = take_u32(c);
  if (!asked || !resolve_path(path, asked)) send_fail(id, BAD_PATH, "list: no path that can be");
  else if (!is_complete(c) || depth == 0) send_fail(id, BAD_REQUEST, "LIST is malformed");
  else if (is_busy(id)) send_fail(id, BUSY, "too many folders are being listed");
  else begin(id, path, depth);
  free(asked);
}

bool list_credit(uint32_t id, uint32_t more) {
  for (struct listing *l = listings; l; l = l->next) {
    if (l->id != id) continue;
    l->credit = more > UINT32_MAX - l->credit ? UINT32_MAX : l->credit + more;
    return true;
  }
  return false;
}

bool list_reset(uint32_t id) {
  for (struct listing **at = &listings; *at; at = &(*at)->next) {
    if ((*at)->id != id) continue;
    remove_listing(at);
    return true;
  }
  return false;
}

void lists_let_go(void) {
  while (listings) remove_listing(&listings);
}
