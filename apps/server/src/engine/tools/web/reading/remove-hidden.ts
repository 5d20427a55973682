import { isComment, isElement, walkNodes, type PageElement, type PageNode } from './page-dom.ts';

/** Elements whose content no reader of the page sees as text. */
const UNSEEN = new Set(
  'script style template noscript iframe object embed svg canvas audio video map datalist'.split(' '),
);

/**
 * Takes out of a page what a person who looks at it would not see: comments, scripts, and elements that say of
 * themselves that they are hidden. Style sheets are not computed. Returns how many hidden elements held text.
 */
export function removeHidden(root: PageNode): number {
  const found: PageNode[] = [];
  let hidden = 0;
  walkNodes(root, (node) => {
    if (isComment(node)) found.push(node);
    if (!isElement(node)) return false;
    const isUnseen = UNSEEN.has(node.localName);
    if (!isUnseen && !isHidden(node)) return true;
    found.push(node);
    if (!isUnseen && /\S/.test(node.textContent ?? '')) hidden++;
    return false;
  });
  for (const node of found) node.remove();
  return hidden;
}

function isHidden(element: PageElement): boolean {
  const hidden = element.getAttribute('hidden');
  if (hidden !== null && hidden !== 'until-found') return true;
  if (element.getAttribute('aria-hidden') === 'true') return true;
  if (element.localName === 'dialog' && !element.hasAttribute('open')) return true;
  if (element.localName === 'body') return false;
  const style = element.getAttribute('style');
  return style !== null && isHidingStyle(style);
}

const HIDING = [
  /;display:none/,
  /;visibility:(hidden|collapse)/,
  /;opacity:0?\.?0*(%|;|!)/,
  /;font-size:0?\.?0*(px|r?em|%|pt|;|!)/,
  /;(left|top|right|bottom|text-indent|margin-left|margin-top):-\d{3,}/,
  /;transform:[^;]*(scale[xy]?\(0|translate[xy]?\(-\d{3,})/,
  /;clip:rect\([01]/,
  /;clip-path:(inset\((50|100)%|circle\(0)/,
  /;color:transparent/,
];
const NO_SIZE = /;(max-)?(width|height):[01](px|;|!|%)/;

/** True for an inline style that leaves nothing to be seen. */
export function isHidingStyle(style: string): boolean {
  const plain = `;${style
    .slice(0, 5_000)
    .toLowerCase()
    .replace(/\/\*.*?\*\/|\s/gs, '')};`;
  if (HIDING.some((pattern) => pattern.test(plain))) return true;
  if (NO_SIZE.test(plain) && plain.includes(';overflow:hidden')) return true;
  const color = /;color:([^;!]+)/.exec(plain)?.[1];
  const background = /;background(?:-color)?:([^;!]+)/.exec(plain)?.[1];
  return color !== undefined && color === background;
}
