import { parse, YAMLParseError } from 'yaml';
import { ModelError } from '../model.ts';
import { scriptSchema } from './script-schema.ts';
import type { Script } from './script-schema.ts';

/** Reads a script. Throws `ModelError` `model.script` that names the file, the place in it and what is expected there. */
export function readScript(text: string, file: string): Script {
  const parsed = scriptSchema.safeParse(parseYaml(text, file));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(
    (issue) => `${issue.path.join('.') || 'the whole'}: ${issue.message}`,
  );
  throw badScript(file, issues.join('; '));
}

function parseYaml(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof YAMLParseError) throw badScript(file, error.message);
    throw error;
  }
}

function badScript(file: string, what: string): ModelError {
  return new ModelError('model.script', `The script ${file} is wrong: ${what}`, 'Correct the script.');
}
