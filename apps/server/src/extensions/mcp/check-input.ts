import { createContext, Script } from 'node:vm';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

/** Says what is wrong with arguments, or `null`. */
export type InputCheck = (input: unknown) => string | null;

/**
 * A schema of a server may hold a pattern that backtracks, or references that unfold without an end. What is done
 * with it is stopped after this many milliseconds.
 */
const TIME_MS = 250;

/** For the schemas of one server: an `$id` of one must not name the schema of another. */
export function createSchemaValidator(): AjvJsonSchemaValidator {
  return new AjvJsonSchemaValidator();
}

/**
 * Makes the check of a tool's arguments from its JSON Schema (drafts 6, 7, 2019-09 and 2020-12).
 * @throws Error when the schema is none, names another document, or cannot be read in time.
 */
export function compileInputCheck(
  schema: Record<string, unknown>,
  validator = createSchemaValidator(),
): InputCheck {
  const validate = runBounded(() => validator.getValidator(schema));
  return (input) => {
    try {
      const result = runBounded(() => validate(input));
      return result.valid ? null : result.errorMessage;
    } catch {
      return 'they could not be checked against the schema of the tool in time; send simpler ones';
    }
  };
}

const context = createContext({ work: null as (() => unknown) | null });
const script = new Script('work()');

/** The only way to stop code that does not yield: regular expressions and recursion included. */
function runBounded<T>(work: () => T): T {
  context['work'] = work;
  try {
    return script.runInContext(context, { timeout: TIME_MS }) as T;
  } finally {
    context['work'] = null;
  }
}
