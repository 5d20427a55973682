import type { GuardedResponse } from '../../../kernel/network/guarded-fetch.ts';
import { AppError } from '../../../kernel/app-error.ts';
import { decodeText } from './decode-text.ts';
import { parseMediaType, sniffReading, type MediaType } from './media-type.ts';
import type { PageReader } from './reading/page-reader.ts';
import { stripInvisible } from './strip-invisible.ts';

/** A web answer as text for a model. */
export interface Answer {
  title: string;
  text: string;
  contentType: string;
  /** Size of the body after decompression. */
  bytes: number;
  /** What a reader has to know about the text: what is left out, and how to get it. */
  notes: string[];
}

/** Source beyond either of these is not read as a page: the time and memory it takes are many times its size. */
const MAX_PAGE_LENGTH = 2 * 1024 * 1024;
const MAX_PAGE_TAGS = 80_000;

/**
 * Reads the body of an answer.
 * @throws AppError `web.unsupported-content`, `web.unreadable-page`, or a failure of the network
 */
export async function readAnswer(
  response: GuardedResponse,
  options: { raw: boolean; readPage: PageReader; signal: AbortSignal },
): Promise<Answer> {
  const type = parseMediaType(response.headers.get('content-type'));
  if (type.reading === 'none') {
    const size = response.headers.get('content-length');
    await response.discard();
    throw unsupported(type, size === null ? 'unknown size' : `${size} bytes`);
  }
  const body = await response.bytes();
  const reading = type.essence === '' ? sniffReading(body) : type.reading;
  if (reading === 'none') throw unsupported(type, `${body.byteLength} bytes`);
  const source = decodeText(body, type.charset);
  const contentType = type.essence === '' ? 'unknown' : type.essence;
  const answer = { title: '', text: source, contentType, bytes: body.byteLength, notes: [] };
  return clean(reading === 'page' && !options.raw ? await readAsPage(answer, response.url, options) : answer);
}

async function readAsPage(
  answer: Answer,
  url: string,
  options: { readPage: PageReader; signal: AbortSignal },
): Promise<Answer> {
  const source = cutSource(answer.text);
  const page = await options.readPage(source, url, options.signal);
  const notes: string[] = [];
  if (source.length < answer.text.length) {
    notes.push(
      `Only the first ${source.length} of ${answer.text.length} characters of the source were read.`,
    );
  }
  if (page.isArticle && page.wholeLength > page.text.length) {
    notes.push(
      `This is the main text, ${page.text.length} of ${page.wholeLength} characters; raw: true gives the source.`,
    );
  }
  if (page.hiddenElements > 0) notes.push(`${page.hiddenElements} hidden elements were left out.`);
  if (page.text.trim() === '') {
    notes.push('The page has no text of its own; it may need a browser, or see its source with raw: true.');
  }
  return { ...answer, title: page.title, text: page.text, notes };
}

function cutSource(source: string): string {
  let tags = 0;
  for (let at = source.indexOf('<'); at !== -1; at = source.indexOf('<', at + 1)) {
    if (at >= MAX_PAGE_LENGTH || ++tags > MAX_PAGE_TAGS) return source.slice(0, at);
  }
  return source.slice(0, MAX_PAGE_LENGTH);
}

function clean(answer: Answer): Answer {
  const title = stripInvisible(answer.title);
  const text = stripInvisible(answer.text);
  const removed = title.removed + text.removed;
  const notes = removed === 0 ? [] : [`${removed} invisible characters were removed.`];
  return { ...answer, title: title.text, text: text.text, notes: [...answer.notes, ...notes] };
}

function unsupported(type: MediaType, size: string): AppError {
  const name = type.essence === '' ? 'a type that is not named' : type.essence.slice(0, 100);
  return new AppError('web.unsupported-content', `This is no text but ${name} (${size}).`, {
    hint: 'Only pages and text can be read this way.',
  });
}
