import { Readability } from '@mozilla/readability';
import { toTitle } from '../../../../kernel/text/cut.ts';
import { toText } from './element-text.ts';
import { measureDepth, parsePage, type PageDocument, type PageNode } from './page-dom.ts';
import { removeHidden } from './remove-hidden.ts';

/** A page as text. */
export interface PageText {
  title: string;
  text: string;
  /** True when `text` is the main text; else it is all of the page. */
  isArticle: boolean;
  /** Length of all text of the page, in UTF-16 units. */
  wholeLength: number;
  /** Hidden elements with text that were left out. */
  hiddenElements: number;
}

/** More text than this is not made of one page. */
const MAX_TEXT = 400_000;
/** A main text shorter than this is more likely a wrong guess than an article. */
const MIN_ARTICLE = 400;
const MAX_ELEMENTS = 60_000;
/** Nested deeper, the time to find the main text explodes. */
const MAX_DEPTH = 400;

/**
 * Reads a page in two steps: first all of its text, handed to `onWhole`, then its main text. The second is a guess
 * whose cost a page's author can drive up at will, so that the caller may have to do without it.
 * @param url Where the page is from: links are completed with it
 */
export function readPage(html: string, url: string, onWhole: (page: PageText) => void): PageText {
  const document = parsePage(html);
  const baseUrl = findBase(document, url);
  const title = toTitle(document.querySelector('title')?.textContent ?? '', 300);
  const root = document.documentElement ?? document.body;
  const hiddenElements = removeHidden(root);
  const text = toText(root, baseUrl, MAX_TEXT);
  const whole = { title, text, isArticle: false, wholeLength: text.length, hiddenElements };
  onWhole(whole);
  const article = measureDepth(root) > MAX_DEPTH ? null : findArticle(document);
  if (article === null) return whole;
  const articleText = toText(article.node, baseUrl, MAX_TEXT);
  if (articleText.length < MIN_ARTICLE) return whole;
  return { ...whole, text: articleText, isArticle: true, title: title === '' ? article.title : title };
}

function findBase(document: PageDocument, url: string): string {
  const href = document.querySelector('base')?.getAttribute('href') ?? '';
  return URL.parse(href, url)?.href ?? url;
}

/** `null` where there is none, or where looking for it fails: it recurses, and gives up on pages nested too deeply. */
function findArticle(document: PageDocument): { node: PageNode; title: string } | null {
  try {
    const options = { serializer: (node: unknown) => node as PageNode, maxElemsToParse: MAX_ELEMENTS };
    const found = new Readability<PageNode>(document, options).parse();
    if (found === null || found.content === null || found.content === undefined) return null;
    return { node: found.content, title: toTitle(found.title ?? '', 300) };
  } catch {
    return null;
  }
}
