import { describe, expect, it } from 'vitest';
import { highlight } from './highlight.ts';

describe('the colours of code', () => {
  const DIFF = `--- a/index.js
+++ b/index.js
@@ -1,3 +1,3 @@
 if (code === BSLASH) {
-  start = index + 1
+  start = ++index`;

  it.each(['diff', 'patch'])(
    'are those of whole lines in a %s, whatever the lines hold',
    async (language) => {
      const pieces = (await highlight(DIFF, language)) ?? [];
      expect(pieces.map((piece) => piece.text).join('')).toBe(DIFF);
      expect(pieces.map((piece) => piece.look)).toEqual([
        'hljs-comment',
        'hljs-comment',
        'hljs-meta',
        '',
        'hljs-deletion',
        'hljs-addition',
      ]);
    },
  );

  it('leave the text of any language as it is', async () => {
    const code = 'const a = "<b>" // </b>\n';
    expect(((await highlight(code, 'ts')) ?? []).map((piece) => piece.text).join('')).toBe(code);
    expect(await highlight(code, 'klingon')).toBeNull();
  });

  it('are there for a language within another, and for the names that people give', async () => {
    const looks = async (code: string, language: string) =>
      ((await highlight(code, language)) ?? []).map((piece) => piece.look);
    expect(await looks('<script>const a = 1</script>', 'html')).toContain('hljs-keyword');
    for (const name of ['js', 'tsx', 'golang', 'c++', 'rs'])
      expect(await looks('"a"', name)).toContain('hljs-string');
    expect(await highlight('a', 'constructor')).toBeNull();
  });
});
