/* The descriptors of one round of the event loop, and until when it may wait. */
#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static struct pollfd *polled;
static int polled_count, polled_capacity;
static int64_t wake_at;

int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void poll_begin(void) {
  polled_count = 0;
  wake_at = 0;
}

/* A slot to ask for the result with; -1 when there is nothing to wait for. */
int poll_add(int fd, short events) {
  if (fd < 0) return -1;
  if (polled_count == polled_capacity) {
    polled_capacity = polled_capacity ? polled_capacity * 2 : 64;
    polled = realloc(polled, (size_t)polled_capacity * sizeof *polled);
    if (!polled) abort();
  }
  polled[polled_count] = (struct pollfd){fd, events, 0};
  return polled_count++;
}

short poll_result(int slot) { return slot >= 0 && slot < polled_count ? polled[slot].revents : 0; }

/* 0 means never. */
void poll_by(int64_t at_ms) {
  if (at_ms && (!wake_at || at_ms < wake_at)) wake_at = at_ms;
}

void poll_wait(void) {
  int64_t left = wake_at ? wake_at - now_ms() : -1;
  if (wake_at && left < 0) left = 0;
  if (left > 60000) left = 60000;
  if (poll(polled, (nfds_t)polled_count, (int)left) >= 0) return;
  if (errno != EINTR) abort();
  for (int i = 0; i < polled_count; i++) polled[i].revents = 0;
}
