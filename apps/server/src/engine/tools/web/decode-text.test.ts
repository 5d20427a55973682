import { describe, expect, it } from 'vitest';
import { decodeText } from './decode-text.ts';

const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1');

describe('the character set of a text', () => {
  it('is what its byte order mark says, above all', () => {
    expect(decodeText(Buffer.from('\ufeffé'), 'windows-1252')).toBe('é');
    expect(decodeText(Buffer.from('\ufeffhé', 'utf16le'), null)).toBe('hé');
  });

  it('is what the header says', () => {
    expect(decodeText(latin('caf\xe9'), 'ISO-8859-1')).toBe('café');
    expect(decodeText(new Uint8Array([0x83, 0x65, 0x83, 0x58, 0x83, 0x67]), 'shift_jis')).toBe('テスト');
    expect(decodeText(new Uint8Array([0xd6, 0xd0]), 'GB2312')).toBe('中');
  });

  it.each([
    '<meta charset=windows-1251>',
    '<META CHARSET="windows-1251">',
    `<meta http-equiv='Content-Type' content='text/html; charset=windows-1251'>`,
    `<?xml version="1.0" encoding="windows-1251"?>`,
  ])('is what the page says: %s', (statement) => {
    const page = Buffer.concat([Buffer.from(statement), Buffer.from([0xcf, 0xf0, 0xe8])]);
    expect(decodeText(page, null)).toContain('При');
  });

  it('is guessed where nobody says, or says nonsense', () => {
    expect(decodeText(Buffer.from('é'), null)).toBe('é');
    expect(decodeText(latin('caf\xe9'), 'klingon')).toBe('café');
    expect(decodeText(Buffer.from('<meta charset=utf-16>é'), null)).toContain('é');
  });
});
