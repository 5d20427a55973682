import { describe, expect, it } from 'vitest';
import { readPage } from './read-page.ts';

const URL_OF_PAGE = 'https://site.test/dir/page';
const textOf = (html: string): string => readPage(html, URL_OF_PAGE, () => undefined).text;

describe('the text of a page', () => {
  it.each([
    ['headings and paragraphs', '<h2>A</h2><p>b  \n c</p>d', '## A\n\nb c\n\nd'],
    ['links in full', '<a href="../x?a=1&amp;b=2">to x</a>', '[to x](https://site.test/x?a=1&b=2)'],
    ['the base of links', '<base href="https://cdn.test/a/"><a href=b>b</a>', '[b](https://cdn.test/a/b)'],
    [
      'no links to scripts, data or the same page',
      '<a href="javascript:x()">a</a> <a href="data:,x">b</a> <a href="#c">c</a>',
      'a b c',
    ],
    ['no empty links', 'a <a href="/x"><span></span></a> b', 'a b'],
    [
      'lists within lists',
      '<ul><li>a<ul><li>b</ul><li>c</ul><ol start=3><li>d<li>e</ol>',
      '- a\n  - b\n- c\n\n3. d\n4. e',
    ],
    [
      'code with its spaces and language',
      '<pre><code class="language-js">if (a) {\n\n  b();\n}\n</code></pre>',
      '```js\nif (a) {\n\n  b();\n}\n```',
    ],
    ['code that holds a fence', '<pre>```\nx</pre>', '````\n```\nx\n````'],
    ['quotations', '<blockquote><p>a</p><p>b</p></blockquote>', '> a\n\n> b'],
    ['tables', '<table><tr><th>A<th>B<tr><td><p>1</p><td>2</table>', '| A | B |\n| --- | --- |\n| 1 | 2 |'],
    ['tables that only lay out', '<table><tr><td><table><tr><td>x</table><td>y</table>', 'x\n\ny'],
    ['words of images', '<img alt="a cat" src=x><img alt="">', '[image: a cat]'],
    ['what is struck out or raised', '<s>9 €</s> 10<sup>6</sup> <code>x</code>', '~~9 €~~ 10^6 `x`'],
  ])('keeps %s', (_, html, expected) => expect(textOf(html)).toBe(expected));

  it.each([
    ['without html and body', '<!doctype html><meta charset=utf-8><title>T</title><p>text'],
    ['without a body', '<html><head><title>T</title></head><p>text</html>'],
    ['with an open head', '<html><head><title>T</title><p>text'],
    ['with text after its end', '<html><head><title>T</title></head><body></body></html><p>text'],
    ['that begins with something else', '<p></p><html><title>T</title><p>text</html>'],
  ])('is found in a page %s', (_, html) => {
    expect(readPage(html, URL_OF_PAGE, () => undefined)).toMatchObject({ title: 'T', text: 'text' });
  });

  it.each([
    '<!-- SECRET -->',
    '<script>SECRET</script>',
    '<style>SECRET</style>',
    '<template>SECRET</template>',
    '<noscript>SECRET</noscript>',
    '<p hidden>SECRET</p>',
    '<p aria-hidden="true">SECRET</p>',
    '<div style="display:none"><p>SECRET</p></div>',
    '<p style="DISPLAY : none !important">SECRET</p>',
    '<p style="display:/**/none">SECRET</p>',
    '<p style="visibility:hidden">SECRET</p>',
    '<p style="opacity:0">SECRET</p>',
    '<p style="opacity: 0.0;">SECRET</p>',
    '<p style="font-size:0px">SECRET</p>',
    '<p style="position:absolute;left:-9999px">SECRET</p>',
    '<p style="text-indent:-1000em">SECRET</p>',
    '<p style="height:0;overflow:hidden">SECRET</p>',
    '<p style="clip:rect(0,0,0,0)">SECRET</p>',
    '<p style="color:#fff;background:#FFF">SECRET</p>',
    '<svg><text>SECRET</text></svg>',
    '<dialog>SECRET</dialog>',
    '<input type=hidden value=SECRET>',
    '<p title="SECRET" data-x="SECRET">x</p>',
  ])('leaves out what nobody sees: %s', (hidden) => {
    const text = textOf(`<p>before</p>${hidden}<p>after</p>`);
    expect(text).not.toContain('SECRET');
    expect(text).toContain('before');
    expect(text).toContain('after');
  });

  it.each([
    'opacity:0.5',
    'font-size:0.9em',
    'left:-5px',
    'color:#fff;background:#000',
    'width:100%;overflow:hidden',
  ])('keeps what is seen: %s', (style) => expect(textOf(`<p style="${style}">seen</p>`)).toBe('seen'));

  it('counts the hidden elements that held text', () => {
    const page = readPage('<p hidden>a</p><p hidden></p><script>b</script>c', URL_OF_PAGE, () => undefined);
    expect(page.hiddenElements).toBe(1);
  });

  it('is the main text where there is one, all of it having been told before', () => {
    const story =
      '<p>This is a sentence of the story, with commas, and it goes on for a while so that it counts.</p>';
    const html = `<title>T</title><nav><a href=/a>Menu</a></nav><article>${story.repeat(20)}</article><footer>Imprint</footer>`;
    const told: string[] = [];
    const page = readPage(html, URL_OF_PAGE, (whole) => void told.push(whole.text));
    expect(page.isArticle).toBe(true);
    expect(page.text).toContain('sentence of the story');
    expect(page.text).not.toContain('Menu');
    expect(told[0]).toContain('[Menu](https://site.test/a)');
    expect(told[0]).toContain('Imprint');
  });

  it('is read however deep the page nests', () => {
    expect(textOf(`${'<div>'.repeat(5_000)}deep`)).toBe('deep');
    expect(textOf(`${'<b>'.repeat(2_000)}deep`)).toBe('deep');
  });

  it('is bounded however much a page makes of little', () => {
    const page = `<base href="https://x.test/${'a'.repeat(1_500)}/">${'<a href=b>x</a>'.repeat(3_000)}`;
    expect(textOf(page).length).toBeLessThan(410_000);
  });
});
