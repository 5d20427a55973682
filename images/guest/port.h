#ifndef VITTO_PORT_H
#define VITTO_PORT_H

#include "agent.h"

/* Opens what the options name: the virtio-serial port, a listening socket, or stdin and stdout. Ends the program when it cannot. */
void port_open(void);
/* Adds the channel, or what a host will come by, to what is polled. */
void port_poll(void);
/* Reads and writes what can be; tells by `on_gone` that the host has gone. */
void port_after_poll(void (*on_frame)(uint8_t, uint32_t, const uint8_t *, size_t), void (*on_gone)(void));

#endif
