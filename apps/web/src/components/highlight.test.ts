import { describe, expect, it } from 'vitest';
import { highlight } from './highlight.ts';

describe('the colours of code', () => {
  const DIFF = `--- a/index.js
+++ b/index.js
@@ -1,3 +1,3 @@
 if (code === BSLASH) {
-  start = index + 1
+  start = ++index`;

  it.each(['diff', 'patch'])('are those of whole lines in a %s, whatever the lines hold', (language) => {
    const pieces = highlight(DIFF, language) ?? [];
    expect(pieces.map((piece) => piece.text).join('')).toBe(DIFF);
    expect(pieces.map((piece) => piece.look)).toEqual([
      'hljs-comment',
      'hljs-comment',
      'hljs-meta',
      '',
      'hljs-deletion',
      'hljs-addition',
    ]);
  });

  it('leave the text of any language as it is', () => {
    const code = 'const a = "<b>" // </b>\n';
    expect((highlight(code, 'ts') ?? []).map((piece) => piece.text).join('')).toBe(code);
    expect(highlight(code, 'klingon')).toBeNull();
  });
});
