/* Bytes from the host that wait until a pipe or a socket takes them; credit goes back as they leave. */
#include "agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool queue_put(struct queue *q, const void *bytes, size_t size) {
  if (q->size + size > WINDOW) return false;
  if (!q->bytes) q->bytes = must_alloc(WINDOW);
  if (q->start + q->size + size > WINDOW) {
    memmove(q->bytes, q->bytes + q->start, q->size);
    q->start = 0;
  }
  if (size > 0) memcpy(q->bytes + q->start + q->size, bytes, size);
  q->size += size;
  return true;
}

int queue_flush(struct queue *q, int fd) {
  while (q->size > 0) {
    ssize_t n = write(fd, q->bytes + q->start, q->size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN ? 0 : -1;
    q->start += (size_t)n;
    q->size -= (size_t)n;
    q->owed += (uint32_t)n;
  }
  /* Nobody waits: give the window's memory back, for most commands are fed once. */
  queue_free(q);
  return 1;
}

void queue_give_credit(struct queue *q, uint32_t id) {
  if (q->owed < CREDIT_STEP) return;
  send_u32(CREDIT_BACK, id, q->owed);
  q->owed = 0;
}

void queue_free(struct queue *q) {
  free(q->bytes);
  q->bytes = NULL;
  q->start = q->size = 0;
}
