import { memo, type ComponentProps, type ReactNode } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { CodeBlock, IsBeingWritten } from './code-block.tsx';
import { findStableCuts, mayStandInParts } from './stable-cuts.ts';
import { useStrings } from '../i18n/strings-context.tsx';

/** The schemes a link may have; everything else is shown as text. */
const SAFE_LINK = /^(?:https?:\/\/|mailto:)/iu;

function safeAddress(url: string | undefined): string | undefined {
  const address = url?.trim();
  return address !== undefined && SAFE_LINK.test(address) && URL.canParse(address) ? address : undefined;
}

function Link({ href, children }: { href?: string | undefined; children?: ReactNode }) {
  const address = safeAddress(href);
  if (address === undefined) return <span>{children}</span>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer" title={address}>
      {children}
    </a>
  );
}

/** An image is not loaded: whoever wrote it would learn that it was looked at. */
function ImageLink({ src, alt }: { src?: string | undefined; alt?: string | undefined }) {
  const strings = useStrings();
  const address = safeAddress(src);
  const host = address === undefined ? '?' : new URL(address).host;
  return <Link href={src}>{strings.answer.image(alt ?? '', host)}</Link>;
}

/** Headings of an answer stand below that of the page; most answers begin with the second level. */
function below(Tag: 'h2' | 'h3' | 'h4' | 'h5' | 'h6') {
  return function Heading({ children }: { children?: ReactNode }) {
    return <Tag dir="auto">{children}</Tag>;
  };
}

const COMPONENTS: Components = {
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => <ImageLink src={typeof src === 'string' ? src : undefined} alt={alt} />,
  h1: below('h2'),
  h2: below('h2'),
  h3: below('h3'),
  h4: below('h4'),
  h5: below('h5'),
  h6: below('h6'),
  p: ({ children }) => <p dir="auto">{children}</p>,
  li: ({ children, className }) => (
    <li dir="auto" className={className}>
      {children}
    </li>
  ),
  blockquote: ({ children }) => <blockquote dir="auto">{children}</blockquote>,
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children }) => (
    <div className="table-frame" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
  input: ({ checked }: ComponentProps<'input'>) => <span aria-hidden="true">{checked ? '☑ ' : '☐ '}</span>,
};

const PLUGINS = [remarkGfm];

/** Text of a model or a tool as Markdown. HTML in it is shown as text; nothing in it is loaded. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <ReactMarkdown
      remarkPlugins={PLUGINS}
      components={COMPONENTS}
      urlTransform={(url) => safeAddress(url) ?? ''}
    >
      {text.toWellFormed()}
    </ReactMarkdown>
  );
});

/**
 * Markdown that is being written, or was. What is finished is not read again with each piece or at the end, and each
 * part keeps its elements: nothing moves, and what somebody has selected stays so.
 */
export function WrittenMarkdown({ text, isLive }: { text: string; isLive: boolean }) {
  const cuts = isLive || mayStandInParts(text) ? findStableCuts(text) : [0];
  return cuts.map((from, index) => (
    <IsBeingWritten key={from} value={isLive && index === cuts.length - 1}>
      <Markdown text={text.slice(from, cuts[index + 1])} />
    </IsBeingWritten>
  ));
}
