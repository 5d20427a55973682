import { duplexPair, type Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { QmpClient } from './qmp-client.ts';

/** A monitor that answers as `answer` says; `null`: not at all. */
function open(answer: (command: string, id: number) => object | null): { client: QmpClient; qemu: Duplex } {
  const [host, qemu] = duplexPair();
  qemu.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.trim().split('\n')) {
      const { execute, id } = JSON.parse(line) as { execute: string; id: number };
      const reply = answer(execute, id);
      if (reply !== null) qemu.write(`${JSON.stringify(reply)}\r\n`);
    }
  });
  return { client: new QmpClient(host), qemu };
}

describe("QEMU's monitor", () => {
  it('answers each command by its id, in pieces and among events', async () => {
    const { client, qemu } = open((command, id) => (command === 'slow' ? null : { return: command, id }));
    qemu.write('{"QMP": {"version": {}}}\r\n');
    const slow = client.execute('slow');
    expect(await client.execute('fast')).toBe('fast');
    qemu.write('{"event": "STOP"}\r\n{"retu');
    qemu.write('rn": 7, "id": 1}\r\n');
    expect(await slow).toBe(7);
  });

  it('says why a command was refused, not answered, or lost', async () => {
    const { client, qemu } = open((command, id) =>
      command === 'bad' ? { error: { class: 'GenericError', desc: 'no such thing' }, id } : null,
    );
    await expect(client.execute('bad')).rejects.toThrow('QEMU did not bad: no such thing');
    await expect(client.execute('never', {}, 5)).rejects.toMatchObject({ code: 'start-failed' });
    const lost = client.execute('lost');
    qemu.end();
    await expect(lost).rejects.toThrow('QEMU did not lost');
    await expect(client.execute('later')).rejects.toThrow('QEMU did not later');
  });

  it('waits for an event that fits', async () => {
    const { client, qemu } = open(() => null);
    const opened = client.waitFor((event, data) => event === 'PORT' && data['open'] === true, 10_000);
    for (const open of [false, true]) {
      qemu.write(`${JSON.stringify({ event: 'PORT', data: { open } })}\n`);
    }
    expect(await opened.event).toEqual({ open: true });
    await expect(client.waitFor(() => false, 5).event).rejects.toThrow('nothing came');
  });

  it('is closed when it writes what is no line of it', async () => {
    const { client, qemu } = open(() => null);
    const waiting = client.execute('any');
    qemu.write('not JSON\n');
    await expect(waiting).rejects.toThrow('not JSON');
  });
});
