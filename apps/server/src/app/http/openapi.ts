import swagger from '@fastify/swagger';
import { approval, auditEntry, problem } from '@vitto/contracts';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { WebApp } from '../../channels/index.ts';

// A schema that refers to itself has to have a name in the document.
approval.shape.arguments.register(z.globalRegistry, { id: 'JsonValue' });
auditEntry.shape.detail.valueType.register(z.globalRegistry, { id: 'AuditedFact' });

export interface OpenApiDocument {
  openapi: string;
  paths: Record<
    string,
    Record<string, { responses: Record<string, unknown>; parameters?: unknown[]; requestBody?: unknown }>
  >;
  components: Record<string, Record<string, unknown>>;
}

const DESCRIPTION =
  'Everything the web app and the command line do. Sign in with a personal token (`authorization: Bearer vitto_…`) or a browser session. ' +
  'A request that changes something and comes with a session cookie carries `x-csrf-token`. ' +
  'POST takes an `Idempotency-Key`: a repeated request gets the first answer. Errors are problem details (RFC 9457) with a stable `code`. ' +
  'Two more doors have formats of others and are not described here: `/v1` (chat completions as OpenAI has them) and `/mcp` (Model Context Protocol).';

/** Writes the OpenAPI 3.1 document from the routes' own schemas; registered before the routes. */
export async function addOpenApi(
  app: WebApp,
  options: { version: string; publicUrl: string },
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Vitto', description: DESCRIPTION, version: options.version },
      servers: [{ url: options.publicUrl }],
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer' },
          session: { type: 'apiKey', in: 'cookie', name: 'vitto_session' },
        },
      },
      security: [{ token: [] }, { session: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
  let document: OpenApiDocument | undefined;
  app.get('/api/openapi.json', { config: { access: 'open' }, schema: { hide: true } }, () => {
    document ??= completeDocument(app.swagger() as unknown as OpenApiDocument);
    return document;
  });
}

/** Adds what holds for every route: the shape of errors, the idempotency key, the event stream. */
function completeDocument(document: OpenApiDocument): OpenApiDocument {
  const full = structuredClone(document);
  full.components['schemas'] = { ...full.components['schemas'], Problem: toJsonSchema() };
  full.components['responses'] = {
    Problem: {
      description: 'What was wrong and what to do',
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  };
  full.components['parameters'] = {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      schema: { type: 'string', maxLength: 255 },
    },
    LastEventId: { name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } },
  };
  for (const [path, operations] of Object.entries(full.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      operation.responses['default'] = { $ref: '#/components/responses/Problem' };
      if (method === 'post') addParameter(operation, 'IdempotencyKey');
      if (path === '/api/events' || path === '/api/tasks/{id}/events') addStream(operation);
      if (path.endsWith('/content') || path.endsWith('/files')) addBytes(operation);
      if (path === '/api/attachments') addUpload(operation);
    }
  }
  return full;
}

type Operation = OpenApiDocument['paths'][string][string];

function addParameter(operation: Operation, name: string): void {
  operation.parameters = [...(operation.parameters ?? []), { $ref: `#/components/parameters/${name}` }];
}

function addStream(operation: Operation): void {
  addParameter(operation, 'LastEventId');
  const ok = operation.responses['200'] as { content: Record<string, unknown> };
  ok.content['text/event-stream'] = { schema: { type: 'string' } };
}

function addBytes(operation: Operation): void {
  operation.responses['200'] = { description: 'The bytes', content: { '*/*': {} } };
  operation.responses['206'] = { description: 'The range that was asked for', content: { '*/*': {} } };
}

function addUpload(operation: Operation): void {
  operation.requestBody = { required: true, content: { 'application/octet-stream': {} } };
}

function toJsonSchema(): unknown {
  const { $schema: _, ...schema } = z.toJSONSchema(problem) as Record<string, unknown>;
  return schema;
}
