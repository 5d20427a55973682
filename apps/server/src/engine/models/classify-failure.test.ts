import { APICallError } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { classifyFailure } from './classify-failure.ts';

const classify = (statusCode: number, responseBody: string, modelId = 'openai/gpt-x') =>
  classifyFailure(
    new APICallError({ message: responseBody, url: '', requestBodyValues: {}, statusCode, responseBody }),
    modelId,
    0,
  );

describe('a failure', () => {
  it.each([
    [429, '{"error":{"code":"insufficient_quota"}}', 'fallback', 'model.quota'],
    [400, 'Your credit balance is too low to access the API', 'fallback', 'model.quota'],
    [
      429,
      'Request too large for gpt-x on tokens per min (TPM): Limit 10000, Requested 30000',
      'stop',
      'model.context-overflow',
    ],
    [413, 'request_too_large', 'stop', 'model.context-overflow'],
    [400, 'flagged by content_policy', 'stop', 'model.refused'],
    [
      400,
      'max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens',
      'stop',
      'model.bad-request',
    ],
    [400, 'API key not valid. Please pass a valid API key.', 'fallback', 'model.auth'],
    [404, 'model not found', 'fallback', 'model.not-found'],
    [404, 'No endpoints found that support image input', 'stop', 'model.images-refused'],
    [
      400,
      'Invalid content type. image_url is only supported by certain models.',
      'stop',
      'model.images-refused',
    ],
    [400, "'messages.0.content' : model does not support images", 'stop', 'model.images-refused'],
    [
      500,
      'image input is not supported - hint: you may need to provide the mmproj',
      'stop',
      'model.images-refused',
    ],
    [400, 'image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes', 'stop', 'model.images-refused'],
    [400, 'Could not process image', 'stop', 'model.images-refused'],
    [400, 'This model only supports text input', 'stop', 'model.images-refused'],
    [429, 'too many images a minute are not supported', 'retry', undefined],
    [404, 'The model `gpt-image-x` does not exist', 'fallback', 'model.not-found'],
  ])('of %i %j leads to %s with %s', (status, body, then, code) => {
    expect(classify(status, body)).toMatchObject({
      then,
      ...(code === undefined ? {} : { error: { code } }),
    });
  });

  it('of a key names the provider, and no key where a file answers', () => {
    const hint = (modelId: string) => {
      const failure = classify(401, 'invalid api key', modelId);
      return failure !== null && 'error' in failure ? failure.error.hint : null;
    };
    expect(hint('openai/gpt-x')).toBe('Check the key for openai.');
    for (const id of ['script:/tmp/a.yaml', 'replay:/tmp/a.jsonl']) {
      expect(hint(id)).toMatch(/^Its file /u);
    }
  });

  it('that came as a 500 but speaks of overload is an overload', () => {
    expect(classify(500, 'overloaded_error')).toMatchObject({ then: 'retry', reason: 'overloaded' });
  });

  it('with a code of the system is the network’s', () => {
    const error = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    expect(classifyFailure(error, 'm', 0)).toMatchObject({ reason: 'network' });
  });

  it('that is a defect is left alone', () => {
    expect(
      classifyFailure(new TypeError("Cannot read properties of undefined (reading 'x')"), 'm', 0),
    ).toBeNull();
    expect(classifyFailure(new Error('budget is gone'), 'm', 0)).toBeNull();
  });

  it('does not carry a long text on', () => {
    const failure = classify(500, 'x'.repeat(10_000));
    expect(failure?.then === 'retry' && failure.message.length).toBeLessThan(400);
  });
});
