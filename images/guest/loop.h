#ifndef VITTO_LOOP_H
#define VITTO_LOOP_H

#include "agent.h"

void poll_begin(void);
/* Waits for what was added; at most until the earliest `poll_by`. */
void poll_wait(void);

#endif
