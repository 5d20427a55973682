import type { FastifyRequest } from 'fastify';
import { AppError } from '../../kernel/app-error.ts';
import { mapStrings, toStorableText } from '../../kernel/text/storable.ts';
import type { WebApp } from '../../channels/index.ts';

/**
 * JSON is the only body this server reads. Bytes that are not UTF-8 are refused instead of being replaced in silence;
 * keys that would reach a prototype are refused; an empty body counts as none.
 */
export function addJsonBodies(app: WebApp): void {
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(body as Buffer);
    } catch {
      return done(
        new AppError('request.bad-encoding', 'The body is not valid UTF-8.', {
          status: 400,
          hint: 'Encode it as UTF-8.',
        }),
      );
    }
    if (text.trim() === '') return done(null, undefined);
    return void parse(request, text, (error, value) => {
      if (error === null) return done(null, value);
      done(
        new AppError('request.bad-json', 'The body is not valid JSON.', {
          status: 400,
          hint: 'Check quotes, commas and brackets; keys such as __proto__ are refused.',
        }),
      );
    });
  });
}

/** A compressed body is refused: nothing that talks to Vitto sends one, and none can swell. */
export function refuseEncodedBody(request: FastifyRequest): void {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw new AppError('request.content-encoding', 'Compressed bodies are not taken.', {
    status: 415,
    hint: 'Send the body as it is, without `content-encoding`.',
  });
}

/**
 * Text that has passed its schema is made storable once, here: NUL and lone surrogates become visible characters.
 * (Fields that are paths or names of models have refused a NUL before.)
 */
export function makeBodyStorable(request: FastifyRequest): void {
  if (request.body !== undefined) request.body = mapStrings(request.body, toStorableText);
}
