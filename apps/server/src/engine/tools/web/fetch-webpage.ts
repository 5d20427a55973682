import { z } from 'zod';
import { AppError } from '../../../kernel/app-error.ts';
import type { GuardedFetch, GuardedResponse } from '../../../kernel/network/guarded-fetch.ts';
import { cutText } from '../../../kernel/text/cut.ts';
import { defineTool, type TaskIdentity, type Tool, type ToolContext, type ToolResult } from '../tool.ts';
import { readAnswer, type Answer } from './read-answer.ts';
import type { PageReader } from './reading/page-reader.ts';

/** What reaches the web for the tools. */
export interface WebDependencies {
  fetch: GuardedFetch;
  readPage: PageReader;
  /** The network policy of a task's user: the reason why a URL is not opened for it, or `null`. */
  refuseUrl?: (url: URL, task: TaskIdentity) => string | null;
}

const TIMEOUT_MS = 30_000;
/** Milliseconds for the network; the rest is for reading the page. */
const FETCH_MS = 20_000;
const MAX_LENGTH = 200_000;
/** Of an error page, this much is enough to see what is wrong. */
const ERROR_LENGTH = 2_000;
const HEADERS = {
  accept:
    'text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.9,application/json;q=0.8,*/*;q=0.5',
  'accept-language': 'en,*;q=0.5',
  'user-agent': 'Mozilla/5.0 (compatible; Vitto)',
};

const input = z.object({
  url: z.string().min(1).max(4_096).describe('Complete address, beginning with https:// or http://.'),
  maxLength: z.int().min(100).max(MAX_LENGTH).optional().describe('Cut the text to this many characters.'),
  raw: z.boolean().optional().describe('Give the source as it is, not the readable text.'),
});
type Input = z.output<typeof input>;

export function createFetchWebpage(web: WebDependencies): Tool {
  return defineTool({
    name: 'fetch_webpage',
    description:
      'Fetches a page of the public web and returns its readable text with links, lists, tables and code. Also shows plain text, Markdown, JSON, XML and feeds. Runs no scripts and sends no cookies.',
    input,
    domain: 'web_search',
    risk: 'read',
    tier: 'in-process',
    idempotency: 'pure',
    timeoutMs: TIMEOUT_MS,
    grantKey: ({ url }) => URL.parse(url)?.host ?? url,
    run: async (args, context) => {
      try {
        return await fetchPage(web, args, context);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return toFailure(error);
      }
    },
  });
}

async function fetchPage(web: WebDependencies, args: Input, context: ToolContext): Promise<ToolResult> {
  const { signal, task } = context;
  const response = await web.fetch(args.url, {
    signal,
    headers: HEADERS,
    totalMs: FETCH_MS,
    refuseUrl: (url) => web.refuseUrl?.(url, task) ?? null,
  });
  const answer = await readAnswer(response, { raw: args.raw ?? false, readPage: web.readPage, signal });
  const isOk = response.status >= 200 && response.status < 300;
  const length = isOk ? (args.maxLength ?? MAX_LENGTH) : ERROR_LENGTH;
  return {
    status: isOk ? 'ok' : 'error',
    text: describe(response, answer, length),
    untrusted: response.url,
    data: {
      ...(isOk ? {} : { code: 'network.http-status' }),
      url: response.url,
      status: response.status,
      title: answer.title,
      bytes: answer.bytes,
      contentType: answer.contentType,
    },
  };
}

function describe(response: GuardedResponse, answer: Answer, length: number): string {
  const { status } = response;
  const text = cutText(answer.text, length);
  const notes = [...answer.notes];
  if (text.length < answer.text.length) {
    notes.push(`The text is cut here: ${answer.text.length - text.length} characters are not shown.`);
  }
  return [
    ...(status >= 200 && status < 300 ? [] : [`network.http-status: the server answered ${status}.`]),
    ...(answer.title === '' ? [] : [`Title: ${answer.title}`]),
    `URL: ${response.url}`,
    `Type: ${answer.contentType}, ${answer.bytes} bytes`,
    ...notes.map((note) => `Note: ${note}`),
    '',
    text.trim() === '' ? '(no text)' : text,
  ].join('\n');
}

function toFailure({ code, message, hint }: AppError): ToolResult {
  return {
    status: code === 'network.timeout' ? 'timeout' : 'error',
    text: `${code}: ${message}${hint === undefined ? '' : ` ${hint}`}`,
    data: { code, ...(hint === undefined ? {} : { hint }) },
  };
}
