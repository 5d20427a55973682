/*
 * Byte streams between the guest and the host: connections to 127.0.0.1:3128 (proxy), the git relay's (git), and an
 * `sshd -i` for each CONNECT. What they are joined to on the other side is the host's business.
 */
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct stream *streams;

static int count_streams(void) {
  int count = 0;
  for (struct stream *s = streams; s; s = s->next) count++;
  return count;
}

static struct stream *find(uint32_t id) {
  for (struct stream *s = streams; s; s = s->next) {
    if (s->has_id && s->id == id) return s;
  }
  return NULL;
}

struct stream *stream_add(int fd, uint32_t id, bool is_accepted) {
  struct stream *s = must_alloc(sizeof *s);
  memset(s, 0, sizeof *s);
  s->next = streams;
  s->id = id;
  s->has_id = true;
  s->is_accepted = is_accepted;
  s->fd = fd;
  s->status_fd = -1;
  s->credit = WINDOW;
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  streams = s;
  return s;
}

bool streams_are_full(void) { return count_streams() >= MOST_STREAMS; }

/* The id has ended; the memory goes after this round. `reason` (may be null) is for the relay. */
void stream_end(struct stream *s, const char *reason) {
  if (s->status_fd >= 0) {
    if (reason && write(s->status_fd, reason, strlen(reason)) < 0) { /* The relay is gone: nobody to tell. */ }
    close(s->status_fd);
  }
  if (s->fd >= 0) close(s->fd);
  queue_free(&s->input);
  s->fd = s->status_fd = -1;
  s->has_id = false;
}

static void send_reset(uint32_t id, const char *reason) {
  uint8_t bytes[4 + 256];
  size_t size = strnlen(reason, 256);
  put_u32(bytes, (uint32_t)size);
  memcpy(bytes + 4, reason, size);
  send_frame(RESET_BACK, id, bytes, 4 + size);
}

static void reset(struct stream *s, const char *reason) {
  send_reset(s->id, reason);
  stream_end(s, reason);
}

static void end_if_both_have(struct stream *s) {
  if (s->we_ended && s->host_ended && s->input.size == 0) stream_end(s, NULL);
}

static void feed(struct stream *s) {
  int result = queue_flush(&s->input, s->fd);
  if (result < 0) {
    reset(s, "closed in the guest");
    return;
  }
  queue_give_credit(&s->input, s->id);
  if (result == 1 && s->host_ended) shutdown(s->fd, SHUT_WR);
  if (result == 1) end_if_both_have(s);
}

static void move(struct stream *s) {
  static uint8_t bytes[MAX_PAYLOAD];
  size_t most = s->credit < sizeof bytes ? s->credit : sizeof bytes;
  ssize_t n = read(s->fd, bytes, most);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n < 0) {
    reset(s, strerror(errno));
    return;
  }
  if (n == 0) {
    s->we_ended = true;
    send_empty(END_OF_FILE_BACK, s->id);
    end_if_both_have(s);
    return;
  }
  s->credit -= (uint32_t)n;
  send_frame(BYTES_BACK, s->id, bytes, (size_t)n);
}

bool stream_bytes(uint32_t id, const uint8_t *bytes, size_t size) {
  struct stream *s = find(id);
  if (!s) return false;
  if (s->host_ended || !queue_put(&s->input, bytes, size)) reset(s, "more than the window, or after the end");
  else feed(s);
  return true;
}

static void on_reset(struct stream *s, struct cursor *c) {
  char *reason = take_string(c, MAX_PAYLOAD);
  stream_end(s, reason && *reason ? reason : "refused by the host");
  free(reason);
}

bool stream_event(uint8_t type, uint32_t id, struct cursor *c) {
  struct stream *s = find(id);
  if (!s) return false;
  if (type == ACCEPTED) s->is_accepted = true;
  else if (type == RESET) on_reset(s, c);
  else {
    s->host_ended = true;
    feed(s);
  }
  return true;
}

bool stream_credit(uint32_t id, uint32_t more) {
  struct stream *s = find(id);
  if (!s) return false;
  s->credit = more > UINT32_MAX - s->credit ? UINT32_MAX : s->credit + more;
  return true;
}

void streams_let_go(void) {
  for (struct stream *s = streams; s; s = s->next) {
    if (s->fd >= 0) stream_end(s, "the sandbox host has gone");
  }
}

void streams_poll(void) {
  listeners_poll();
  for (struct stream *s = streams; s; s = s->next) {
    bool may_read = s->is_accepted && !s->we_ended && s->credit > 0 && channel_has_room();
    short events = (short)((may_read || s->awaits_about ? POLLIN : 0) | (s->input.size > 0 ? POLLOUT : 0));
    s->slot = events ? poll_add(s->fd, events) : -1;
    s->may_read = may_read;
  }
}

static void pump(struct stream *s) {
  short result = poll_result(s->slot);
  s->slot = -1;
  if (result && s->awaits_about) {
    stream_open_git(s);
    return;
  }
  if (result && s->input.size > 0) feed(s);
  if (result && s->fd >= 0 && s->may_read) move(s);
}

void streams_after_poll(void) {
  for (struct stream **at = &streams; *at;) {
    struct stream *s = *at;
    if (s->fd >= 0) pump(s);
    if (s->fd >= 0) {
      at = &s->next;
      continue;
    }
    *at = s->next;
    free(s);
  }
  listeners_after_poll();
}
