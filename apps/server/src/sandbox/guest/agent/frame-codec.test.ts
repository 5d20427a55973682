import { expect, it } from 'vitest';
import { encodeFrame, FrameReader, ProtocolError, type Frame } from './frame-codec.ts';
import { MAX_PAYLOAD_BYTES } from './frame-types.ts';

function read(chunks: Buffer[]): Frame[] {
  const reader = new FrameReader();
  const frames: Frame[] = [];
  for (const chunk of chunks)
    reader.push(chunk, (frame) => frames.push({ ...frame, payload: Buffer.from(frame.payload) }));
  return frames;
}

const FRAMES: Frame[] = [
  { type: 0x90, id: 1, payload: Buffer.alloc(0) },
  { type: 0x91, id: 0xffff_ffff, payload: Buffer.from([0xa5, 0x5a, 0, 0xa5]) },
  { type: 0x92, id: 7, payload: Buffer.from('text') },
];
const BYTES = Buffer.concat([
  Buffer.alloc(5),
  ...FRAMES.flatMap(({ type, id, payload }) => [encodeFrame(type, id, payload), Buffer.alloc(3)]),
]);

it('reads frames wherever the bytes are cut, at one place or at two', () => {
  for (let first = 0; first <= BYTES.length; first += 1) {
    for (let second = first; second <= BYTES.length; second += 1) {
      const chunks = [BYTES.subarray(0, first), BYTES.subarray(first, second), BYTES.subarray(second)];
      expect(read(chunks)).toEqual(FRAMES);
    }
  }
});

it('reads any frames from chunks of any size', () => {
  let seed = 11;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 30; round += 1) {
    const frames = Array.from({ length: 1 + random(20) }, () => ({
      type: random(256),
      id: random(0x7fff_ffff),
      payload: Buffer.alloc(random(4) === 0 ? random(MAX_PAYLOAD_BYTES + 1) : random(30), random(256)),
    }));
    const bytes = Buffer.concat(frames.map(({ type, id, payload }) => encodeFrame(type, id, payload)));
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length;) {
      const size = 1 + random(random(2) === 0 ? 12 : 100_000);
      chunks.push(bytes.subarray(at, at + size));
      at += size;
    }
    const again = read(chunks).map(({ type, id, payload }) => encodeFrame(type, id, payload));
    expect(Buffer.concat(again).equals(bytes)).toBe(true);
  }
});

it('refuses what is no frame as soon as it is seen', () => {
  const tooLong = Buffer.from([0xa5, 0xff, 0xff, 0xff, 0x7f, 0x91, 0, 0, 0, 0]);
  const tooShort = Buffer.from([0xa5, 4, 0, 0, 0, 0x91, 0, 0, 0, 0]);
  const noEnd = encodeFrame(0x91, 1, Buffer.from('x'));
  noEnd[noEnd.length - 1] = 0;
  for (const bytes of [Buffer.from('login: '), tooLong, tooShort, noEnd]) {
    expect(() => read([bytes])).toThrow(ProtocolError);
    expect(() => read([...bytes].map((byte) => Buffer.of(byte)))).toThrow(ProtocolError);
  }
});
