import type { Tool } from '@modelcontextprotocol/client';
import type { McpToolDefinition } from '@vitto/contracts';
import { stripInvisible } from '../../engine/index.ts';
import { describeError } from '../../kernel/app-error.ts';
import { cutText } from '../../kernel/text/cut.ts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import { mapStrings, toStorableText } from '../../kernel/text/storable.ts';
import { compileInputCheck, type createSchemaValidator } from './check-input.ts';
import { nameTool } from './tool-name.ts';

const MAX_NAME = 200;
const MAX_DESCRIPTION = 2_000;
/** Bytes of a whole definition as JSON. */
const MAX_BYTES = 16 * 1024;
const MAX_DEPTH = 16;
/** Providers refuse a whole request for one property that is named otherwise. */
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
/** Providers refuse a whole request for alternatives at the top of a schema. */
const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else'];

type Schema = Record<string, unknown>;

/**
 * A tool as a person sees it on approval and a model on use: the very same text. Characters that nobody sees are taken
 * out, secrets masked, sizes bounded, and what was done is told in the warnings.
 */
export function readDefinition(
  server: string,
  tool: Tool,
  validator: ReturnType<typeof createSchemaValidator>,
): McpToolDefinition {
  const cleaner = new Cleaner();
  const whole = cleaner.clean(tool.description ?? '').trim();
  const description = cutText(whole, MAX_DESCRIPTION);
  const title = tool.title ?? tool.annotations?.title;
  const definition = {
    name: tool.name,
    title: title === undefined ? null : cutText(cleaner.clean(title), MAX_NAME),
    description,
    inputSchema: cleaner.cleanAll(tool.inputSchema) as Schema,
    hints: cleaner.cleanAll(tool.annotations ?? {}) as Schema,
  };
  const { toolName, isChanged } = nameTool(server, maskSecrets(tool.name));
  const warnings: string[] = [];
  if (cleaner.removed > 0) {
    warnings.push(
      `${cleaner.removed} invisible characters were taken out; they may have held orders for the model`,
    );
  }
  if (description.length < whole.length) {
    warnings.push(
      `the description has ${whole.length} characters; only the first ${MAX_DESCRIPTION} are used`,
    );
  }
  if (isChanged) warnings.push(`the name is not usable as it is; the model uses ${toolName}`);
  const problem = findProblem(definition, validator);
  if (problem !== null) {
    // A name may be as large as anything else that a server sends.
    const name = cutText(cleaner.clean(tool.name), MAX_NAME);
    const bare = { inputSchema: { type: 'object' }, hints: {} };
    return { ...definition, ...bare, name, toolName, warnings: [...warnings, problem], isUsable: false };
  }
  const { shown, isShortened } = withoutAlternatives(definition.inputSchema);
  if (isShortened) warnings.push('the model is not shown the alternatives at the top of the schema');
  return {
    ...definition,
    inputSchema: shown,
    toolName,
    warnings,
    isUsable: true,
  };
}

/** Takes invisible characters out and counts them, and masks secrets: a server may repeat what it was given to sign in. */
class Cleaner {
  removed = 0;

  clean(text: string): string {
    const stripped = stripInvisible(text);
    this.removed += stripped.removed;
    return maskSecrets(toStorableText(stripped.text));
  }
  cleanAll(value: unknown): unknown {
    return mapStrings(value, (text) => this.clean(text));
  }
}

/** Why no task may be offered the tool, or `null`. */
function findProblem(
  definition: { name: string; inputSchema: Schema },
  validator: ReturnType<typeof createSchemaValidator>,
): string | null {
  const { name, inputSchema } = definition;
  if (name.length > MAX_NAME || stripInvisible(name).removed > 0 || /\n/.test(name)) {
    return `not usable: its name is too long or has invisible characters`;
  }
  if (maskSecrets(name) !== name) return 'not usable: its name holds a secret';
  const bytes = Buffer.byteLength(JSON.stringify(definition));
  if (bytes > MAX_BYTES) return `not usable: its definition has ${bytes} bytes; ${MAX_BYTES} are the limit`;
  if (depthOf(inputSchema, MAX_DEPTH) > MAX_DEPTH) {
    return `not usable: its schema is nested deeper than ${MAX_DEPTH} levels`;
  }
  if (inputSchema['type'] !== 'object') return 'not usable: its arguments are not an object';
  const properties = Object.keys(inputSchema['properties'] ?? {});
  const odd = properties.find((property) => !PROPERTY_NAME.test(property));
  if (odd !== undefined) {
    return `not usable: providers refuse an argument named "${cutText(odd, 80)}" (letters, digits, _ . and - only)`;
  }
  try {
    compileInputCheck(inputSchema, validator);
    return null;
  } catch (error) {
    return `not usable: its schema cannot be read (${cutText(describeError(error), 200)})`;
  }
}

function withoutAlternatives(schema: Schema): { shown: Schema; isShortened: boolean } {
  const shown = Object.fromEntries(Object.entries(schema).filter(([key]) => !ALTERNATIVES.includes(key)));
  return { shown, isShortened: Object.keys(shown).length < Object.keys(schema).length };
}

/** Levels of nesting, counted no further than one beyond `limit`. */
export function depthOf(value: unknown, limit: number, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > limit) return depth;
  let deepest = depth;
  for (const item of Object.values(value)) deepest = Math.max(deepest, depthOf(item, limit, depth + 1));
  return deepest;
}
