import { parse, YAMLParseError } from 'yaml';
import type { z } from 'zod';
import { ModelError } from '../model.ts';
import { scriptSchema } from './script-schema.ts';
import type { Script } from './script-schema.ts';

/** Reads a script. Throws `ModelError` `model.script` that names the file, the place in it and what is expected there. */
export function readScript(text: string, file: string): Script {
  const parsed = scriptSchema.safeParse(parseYaml(text, file));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(
    (issue) => `${issue.path.join('.') || 'the whole'}: ${describeIssue(issue)}`,
  );
  throw badScript(file, issues.join('; '));
}

/** A script shows what it is by its name; of a file that is none, not even the keys are shown. */
function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys' || issue.path.length > 0) return issue.message;
  return `${issue.keys.length} keys that no script has`;
}

function parseYaml(text: string, file: string): unknown {
  try {
    // Without the excerpt that the parser would quote: a message shows no content of files.
    return parse(text, { prettyErrors: false });
  } catch (error) {
    if (error instanceof YAMLParseError)
      throw badScript(file, `it is not valid YAML (${error.code}, at character ${error.pos[0]})`);
    throw error;
  }
}

function badScript(file: string, what: string): ModelError {
  return new ModelError('model.script', `The script ${file} is wrong: ${what}`, 'Correct the script.');
}
