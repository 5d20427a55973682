/* READ, and how paths become open files: with the user's rights, regular files only, nothing opened to find out what it is. */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_READS 64

struct reading {
  struct reading *next;
  uint32_t id, credit;
  int fd;
  uint64_t at, left;
};
static struct reading *readings;

bool resolve_path(char out[PATH_MAX], const char *path) {
  if (!*path) return false;
  int n = *path == '/' ? snprintf(out, PATH_MAX, "%s", path) : snprintf(out, PATH_MAX, "%s/%s", options.home, path);
  return n > 0 && n < PATH_MAX;
}

/* A look without opening (O_PATH) comes first: to open a device or a pipe can act on it. The second open is of the
   very file that was looked at, and checks permissions as any open. */
int open_regular(const char *path, int flags, uint64_t *size) {
  char self[64];
  struct stat st;
  int seen = open(path, O_PATH | O_CLOEXEC);
  if (seen < 0) return -1;
  int fd = -1, error = EISDIR;
  if (fstat(seen, &st) != 0) error = errno;
  else if (S_ISREG(st.st_mode)) {
    snprintf(self, sizeof self, "/proc/self/fd/%d", seen);
    fd = open(self, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    error = errno;
    *size = (uint64_t)st.st_size;
  }
  close(seen);
  errno = error;
  return fd;
}

static bool is_busy(uint32_t id) {
  int count = 0;
  for (struct reading *r = readings; r; r = r->next) {
    count++;
    if (r->id == id) return true;
  }
  return count >= MOST_READS;
}

static void begin(uint32_t id, const char *path, bool as_root, uint64_t offset, uint64_t length) {
  uint64_t size = 0;
  uint8_t bytes[8];
  act_as(as_root ? NULL : &user_account);
  int fd = open_regular(path, O_RDONLY, &size);
  int error = errno;
  act_as_self();
  if (fd < 0) {
    send_errno(id, error, "read");
    return;
  }
  struct reading *r = must_alloc(sizeof *r);
  *r = (struct reading){readings, id, WINDOW, fd, offset, length};
  readings = r;
  send_frame(FILE_SIZE, id, bytes, put_u64(bytes, size));
}

void file_read(uint32_t id, struct cursor *c) {
  char path[PATH_MAX];
  uint8_t flags = take_u8(c);
  char *asked = take_string(c, PATH_MAX - 1);
  uint64_t offset = take_u64(c), length = take_u64(c);
  if (!asked || !resolve_path(path, asked)) send_fail(id, BAD_PATH, "read: no path that can be");
  else if (!is_complete(c) || offset > INT64_MAX) send_fail(id, BAD_REQUEST, "READ is malformed");
  else if (is_busy(id)) send_fail(id, BUSY, "too many files are being read");
  else begin(id, path, flags & AS_ROOT, offset, length);
  free(asked);
}

/* False when it has ended. */
static bool move(struct reading *r) {
  static uint8_t bytes[MAX_PAYLOAD];
  size_t most = sizeof bytes;
  if (r->left < most) most = (size_t)r->left;
  if (most > 0 && r->credit == 0) return true;
  if (r->credit < most) most = r->credit;
  ssize_t n = most > 0 ? pread(r->fd, bytes, most, (off_t)r->at) : 0;
  if (n < 0) {
    send_errno(r->id, errno, "read");
    return false;
  }
  if (n == 0) {
    send_empty(END, r->id);
    return false;
  }
  send_frame(DATA, r->id, bytes, (size_t)n);
  r->at += (uint64_t)n;
  r->left -= (uint64_t)n;
  r->credit -= (uint32_t)n;
  return true;
}

static void remove_reading(struct reading **at) {
  struct reading *r = *at;
  *at = r->next;
  close(r->fd);
  free(r);
}

void files_pump(void) {
  for (struct reading **at = &readings; *at && channel_has_room();) {
    if (move(*at)) at = &(*at)->next;
    else remove_reading(at);
  }
}

bool files_wait_for_room(void) {
  for (struct reading *r = readings; r; r = r->next) {
    if (r->credit > 0 || r->left == 0) return true;
  }
  return false;
}

bool file_credit(uint32_t id, uint32_t more) {
  for (struct reading *r = readings; r; r = r->next) {
    if (r->id != id) continue;
    r->credit = more > UINT32_MAX - r->credit ? UINT32_MAX : r->credit + more;
    return true;
  }
  return false;
}

bool file_reset(uint32_t id) {
  for (struct reading **at = &readings; *at; at = &(*at)->next) {
    if ((*at)->id != id) continue;
    remove_reading(at);
    return true;
  }
  return false;
}

void files_let_go(void) {
  while (readings) remove_reading(&readings);
}
