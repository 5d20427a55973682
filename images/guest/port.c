/* Where the host is: a virtio-serial port in a machine, a socket or stdin and stdout on an ordinary host. */
#include "port.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PORT_NAME "vitto.agent"
/* A port whose other end is closed is always "ready": it is looked at again after this long instead. */
#define LOOK_AGAIN_MS 10
/* A machine's kernel learns in another queue than that of the bytes that a host went and another came. So the next host
   may have been read and answered when the going of the one before is seen, and what is its own must not be let go. */
#define AWAY_MS 1000

static int port_fd = -1, listen_fd = -1;
static int in_slot = -1, out_slot = -1, listen_slot = -1;
static int64_t away_since; /* 0: the host is there */

static bool has_name(const char *port) {
  char path[PATH_MAX], name[64] = "";
  snprintf(path, sizeof path, "/sys/class/virtio-ports/%s/name", port);
  FILE *file = fopen(path, "re");
  bool is_read = file && fgets(name, sizeof name, file);
  if (file) fclose(file);
  return is_read && strcspn(name, "\n") == strlen(PORT_NAME) && strncmp(name, PORT_NAME, strlen(PORT_NAME)) == 0;
}

/* There is no udev to make links by name. */
static int find_port(void) {
  DIR *dir = opendir("/sys/class/virtio-ports");
  struct dirent *entry;
  int fd = -1;
  while (dir && fd < 0 && (entry = readdir(dir))) {
    if (entry->d_name[0] == '.' || !has_name(entry->d_name)) continue;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/dev/%s", entry->d_name);
    fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  }
  if (dir) closedir(dir);
  return fd;
}

static int listen_at(const char *path) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0 || snprintf(at.sun_path, sizeof at.sun_path, "%s", path) >= (int)sizeof at.sun_path) return -1;
  unlink(path);
  return bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 4) == 0 ? fd : -1;
}

static void set_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

void port_open(void) {
  if (options.stdio) {
    set_nonblocking(0);
    set_nonblocking(1);
    channel_open(0, 1);
    return;
  }
  if (options.socket) listen_fd = listen_at(options.socket);
  /* The port comes a moment after its driver. */
  for (int i = 0; !options.socket && port_fd < 0 && i < 1000; i++) {
    port_fd = find_port();
    if (port_fd < 0) usleep(5000);
  }
  if (listen_fd < 0 && port_fd < 0) {
    say("no channel: %s", strerror(errno));
    exit(1);
  }
}

static bool is_host_there(void) {
  struct pollfd look = {port_fd, POLLIN, 0};
  return poll(&look, 1, 0) >= 0 && !(look.revents & POLLHUP);
}

void port_poll(void) {
  in_slot = out_slot = listen_slot = -1;
  if (port_fd >= 0 && !channel_is_open() && is_host_there()) channel_open(port_fd, port_fd);
  if (!channel_is_open()) {
    listen_slot = poll_add(listen_fd, POLLIN);
    if (port_fd >= 0) poll_by(now_ms() + LOOK_AGAIN_MS);
    return;
  }
  if (away_since) {
    poll_by(now_ms() + LOOK_AGAIN_MS);
    return;
  }
  struct channel_view view = channel_view();
  in_slot = poll_add(channel_has_room() ? view.in : -1, POLLIN);
  out_slot = poll_add(channel_has_output() ? view.out : -1, POLLOUT);
}

static void leave(void (*on_gone)(void)) {
  struct channel_view view = channel_view();
  away_since = 0;
  channel_close();
  on_gone();
  if (options.stdio) exit(0);
  if (view.in != port_fd) close(view.in);
}

static bool is_away_for_good(void) {
  if (port_fd < 0) return true;
  if (!away_since) away_since = now_ms();
  return now_ms() - away_since >= AWAY_MS;
}

void port_after_poll(void (*on_frame)(uint8_t, uint32_t, const uint8_t *, size_t), void (*on_gone)(void)) {
  if (poll_result(listen_slot)) {
    int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) channel_open(fd, fd);
    return;
  }
  if (!channel_is_open()) return;
  short events = poll_result(in_slot) | poll_result(out_slot);
  int heard = 0;
  if (channel_has_room() && (away_since || events & (POLLIN | POLLERR | POLLHUP))) heard = channel_read(on_frame);
  bool is_there = heard >= 0;
  if (heard == 0 && port_fd >= 0 && (away_since || events & POLLHUP)) is_there = is_host_there();
  if (is_there && channel_has_output()) is_there = channel_write();
  if (is_there) away_since = 0;
  else if (is_away_for_good()) leave(on_gone);
}
