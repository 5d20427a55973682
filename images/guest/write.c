/* WRITE: the content goes into a temporary file beside the target, which takes its place in one step. */
#include "agent.h"
#include "sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_WRITES 64
#define KEEP_MODE 0xFFFFFFFFu

enum expectation { EXPECT_NOTHING, EXPECT_SHA256, EXPECT_ABSENT };

struct writing {
  struct writing *next;
  uint32_t id, mode;
  const struct account *account; /* null: root */
  bool is_told_anew; /* at each start: it need not outlive a loss of power */
  uint8_t expect, sha256[32];
  char path[PATH_MAX];
  char temporary[32]; /* the name, in the folder; empty when there is none */
  int folder, fd;
  uint64_t left;
  uint32_t owed;
};
static struct writing *writings;

/* A link leads to what is to be written; replacing the link itself would part it from its file. False with errno. */
static bool follow_link(char path[PATH_MAX]) {
  struct stat st;
  char real[PATH_MAX];
  if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode)) return true;
  if (!realpath(path, real)) return false;
  memcpy(path, real, PATH_MAX);
  return true;
}

static bool make_parents(char *path) {
  for (char *at = path + 1; (at = strchr(at, '/')); at++) {
    struct stat st;
    *at = 0;
    int error = mkdir(path, 0755) == 0 ? 0 : errno;
    /* Whatever mkdir says of a folder that is there already (a read-only disk, no right to write beside it). */
    if (error && stat(path, &st) == 0) error = 0;
    *at = '/';
    if (error) {
      errno = error;
      return false;
    }
  }
  return true;
}

static const char *name_of(const struct writing *w) { return strrchr(w->path, '/') + 1; }

static bool open_folder(struct writing *w) {
  char *slash = strrchr(w->path, '/');
  if (!slash[1] || strcmp(slash, "/.") == 0 || strcmp(slash, "/..") == 0) {
    errno = EISDIR;
    return false;
  }
  if (!make_parents(w->path)) return false;
  *slash = 0;
  w->folder = open(*w->path ? w->path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  *slash = '/';
  return w->folder >= 0;
}

/* The file as it is now: its permissions, and that the user may write it. False with errno. */
static bool look_at_target(struct writing *w, struct stat *st) {
  uint64_t size;
  if (fstatat(w->folder, name_of(w), st, AT_SYMLINK_NOFOLLOW) != 0) {
    st->st_mode = 0;
    return errno == ENOENT;
  }
  int fd = open_regular(w->path, O_WRONLY, &size);
  if (fd >= 0) close(fd);
  return fd >= 0 || errno == ETXTBSY;
}

/* 1 as expected, 0 not, -1 with errno. */
static int meets_expectation(struct writing *w) {
  if (w->expect == EXPECT_NOTHING) return 1;
  uint64_t size;
  int fd = open_regular(w->path, O_RDONLY, &size);
  if (fd < 0) return errno == ENOENT ? w->expect == EXPECT_ABSENT : -1;
  uint8_t found[32];
  bool is_read = w->expect == EXPECT_ABSENT || sha256_of_file(fd, found);
  close(fd);
  if (!is_read) return -1;
  return w->expect == EXPECT_SHA256 && memcmp(found, w->sha256, 32) == 0;
}

static bool open_temporary(struct writing *w) {
  static uint32_t number;
  for (int i = 0; i < 100; i++) {
    snprintf(w->temporary, sizeof w->temporary, ".vitto-%x-%x.tmp", (unsigned)getpid(), ++number);
    w->fd = openat(w->folder, w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (w->fd >= 0) return true;
    if (errno != EEXIST) break;
  }
  *w->temporary = 0;
  return false;
}

static void free_writing(struct writing *w) {
  int error = errno;
  act_as(w->account);
  if (*w->temporary) unlinkat(w->folder, w->temporary, 0);
  act_as_self();
  if (w->fd >= 0) close(w->fd);
  if (w->folder >= 0) close(w->folder);
  free(w);
  errno = error;
}

/* 0, or the code to fail with and `errno` (0 when the code says it all). */
static int prepare(struct writing *w) {
  struct stat st;
  if (!follow_link(w->path) || !open_folder(w) || !look_at_target(w, &st)) return IO_ERROR;
  int met = meets_expectation(w);
  if (met < 0) return IO_ERROR;
  if (met == 0) return CHANGED;
  if (!open_temporary(w)) return IO_ERROR;
  if (w->mode == KEEP_MODE) w->mode = st.st_mode ? st.st_mode & 07777 : 0644;
  /* Root replaces a user's file without taking it away from the user. */
  if (st.st_mode && !w->account && geteuid() == 0 && fchown(w->fd, st.st_uid, st.st_gid) != 0) return IO_ERROR;
  return 0;
}

static bool put(struct writing *w, const uint8_t *bytes, size_t size) {
  while (size > 0) {
    ssize_t n = write(w->fd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes += n;
    size -= (size_t)n;
  }
  return true;
}

/* 1 created, 0 replaced, -1 with errno, -2 when it has changed meanwhile. */
static int finish(struct writing *w) {
  struct stat st;
  if (fchmod(w->fd, w->mode & 07777) != 0) return -1;
  if (!w->is_told_anew && fsync(w->fd) != 0) return -1;
  act_as(w->account);
  int met = meets_expectation(w), result = met;
  if (met == 1) {
    result = fstatat(w->folder, name_of(w), &st, AT_SYMLINK_NOFOLLOW) != 0;
    if (renameat(w->folder, w->temporary, w->folder, name_of(w)) != 0) result = -1;
    else *w->temporary = 0;
  }
  act_as_self();
  if (met == 1 && result >= 0 && !w->is_told_anew) fsync(w->folder);
  return met == 0 ? -2 : result;
}

static struct writing *new_writing(uint32_t id, const struct account *account, uint32_t mode) {
  struct writing *w = must_alloc(sizeof *w);
  memset(w, 0, sizeof *w);
  w->id = id;
  w->account = account;
  w->mode = mode;
  w->folder = w->fd = -1;
  return w;
}

int write_whole(const struct account *account, const char *path, mode_t mode, const void *bytes, size_t size) {
  struct writing *w = new_writing(0, account, mode);
  w->is_told_anew = true;
  snprintf(w->path, sizeof w->path, "%s", path);
  act_as(account);
  int code = prepare(w);
  act_as_self();
  int result = code == 0 && put(w, bytes, size) && finish(w) >= 0 ? 0 : errno;
  free_writing(w);
  return result;
}

static void send_written(const struct writing *w, bool is_created) {
  uint8_t bytes[5 + PATH_MAX];
  size_t size = strlen(w->path);
  bytes[0] = is_created;
  put_u32(bytes + 1, (uint32_t)size);
  memcpy(bytes + 5, w->path, size);
  send_frame(WRITTEN, w->id, bytes, 5 + size);
}

/* All content is there: the id ends one way or the other, and `w` with it. */
static void conclude(struct writing *w) {
  int result = finish(w);
  if (result == -2) send_fail(w->id, CHANGED, "the file has changed");
  else if (result < 0) send_errno(w->id, errno, "write");
  else send_written(w, result == 1);
  free_writing(w);
}

static void begin(struct writing *w) {
  act_as(w->account);
  int code = prepare(w);
  int error = errno;
  act_as_self();
  if (code == CHANGED) send_fail(w->id, CHANGED, "the file is not as expected");
  else if (code) send_errno(w->id, error, "write");
  if (code) free_writing(w);
  else if (w->left == 0) conclude(w);
  else {
    w->next = writings;
    writings = w;
  }
}

static bool is_busy(uint32_t id) {
  int count = 0;
  for (struct writing *w = writings; w; w = w->next) {
    count++;
    if (w->id == id) return true;
  }
  return count >= MOST_WRITES;
}

void write_begin(uint32_t id, struct cursor *c) {
  uint8_t flags = take_u8(c);
  char *asked = take_string(c, PATH_MAX - 1);
  struct writing *w = new_writing(id, flags & AS_ROOT ? NULL : &user_account, take_u32(c));
  w->expect = take_u8(c);
  const uint8_t *sha256 = take_bytes(c, 32);
  if (sha256) memcpy(w->sha256, sha256, 32);
  w->left = take_u64(c);
  bool is_path = asked && resolve_path(w->path, asked);
  free(asked);
  if (!is_path) send_fail(id, BAD_PATH, "write: no path that can be");
  else if (!is_complete(c) || w->expect > EXPECT_ABSENT) send_fail(id, BAD_REQUEST, "WRITE is malformed");
  else if (is_busy(id)) send_fail(id, BUSY, "too many files are being written");
  else {
    begin(w);
    return;
  }
  free(w);
}

static struct writing **find(uint32_t id) {
  struct writing **at = &writings;
  while (*at && (*at)->id != id) at = &(*at)->next;
  return at;
}

bool write_content(uint32_t id, const uint8_t *bytes, size_t size) {
  struct writing **at = find(id), *w = *at;
  if (!w) return false;
  bool is_too_much = size > w->left;
  if (is_too_much || !put(w, bytes, size)) {
    if (is_too_much) send_fail(id, BAD_REQUEST, "more content than announced");
    else send_errno(id, errno, "write");
    *at = w->next;
    free_writing(w);
    return true;
  }
  w->left -= size;
  w->owed += (uint32_t)size;
  if (w->left == 0) {
    *at = w->next;
    conclude(w);
  } else if (w->owed >= CREDIT_STEP) {
    send_u32(CREDIT_BACK, id, w->owed);
    w->owed = 0;
  }
  return true;
}

bool write_reset(uint32_t id) {
  struct writing **at = find(id), *w = *at;
  if (!w) return false;
  *at = w->next;
  free_writing(w);
  return true;
}

void writes_let_go(void) {
  while (writings) {
    struct writing *w = writings;
    writings = w->next;
    free_writing(w);
  }
}
