/* One static program, several roles: by the name it is called by, or by its first argument. */
#include "agent.h"

#include <stdio.h>
#include <string.h>

static const struct { const char *name; int (*run)(int argc, char **argv); } roles[] = {
    {"init", init_main}, {"vitto-init", init_main}, {"vitto-agent", agent_main}, {"vitto-git-ssh", git_ssh_main},
};

static int run_role(const char *name, int argc, char **argv) {
  const char *slash = strrchr(name, '/');
  for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
    if (strcmp(slash ? slash + 1 : name, roles[i].name) == 0) return roles[i].run(argc, argv);
  }
  return -1;
}

int main(int argc, char **argv) {
  int code = argc > 0 ? run_role(argv[0], argc, argv) : -1;
  if (code < 0 && argc > 1) code = run_role(argv[1], argc - 1, argv + 1);
  if (code >= 0) return code;
  fprintf(stderr, "usage: vitto-guest vitto-init | vitto-agent | vitto-git-ssh ...\n");
  return 2;
}
