import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';

type Prompt = LanguageModelV4CallOptions['prompt'];
type ResultOutput = Extract<
  Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number],
  { type: 'tool-result' }
>['output'];

/** A tool result as a script looks at it. */
export interface SeenResult {
  tool: string;
  text: string;
  isError: boolean;
}

/** What came between two assistant messages. */
export interface Step {
  results: SeenResult[];
  userTexts: string[];
}

/** The text of a message, its parts joined by line breaks. */
export function textOf(message: LanguageModelV4Message): string {
  if (typeof message.content === 'string') return message.content;
  return message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

export function systemTextOf(prompt: Prompt): string {
  return prompt
    .filter(({ role }) => role === 'system')
    .map(textOf)
    .join('\n');
}

/** The steps after the message at `anchor` (it included): one before each assistant message, and the open one at the end. */
export function stepsSince(prompt: Prompt, anchor: number): Step[] {
  let open: Step = { results: [], userTexts: [] };
  const steps = [open];
  for (const message of prompt.slice(anchor)) {
    if (message.role === 'assistant') steps.push((open = { results: [], userTexts: [] }));
    else if (message.role === 'user') open.userTexts.push(textOf(message));
    else if (message.role === 'tool') open.results.push(...readResults(message));
  }
  return steps;
}

function readResults(message: Extract<LanguageModelV4Message, { role: 'tool' }>): SeenResult[] {
  return message.content.flatMap((part) =>
    part.type === 'tool-result' ? [{ tool: part.toolName, ...readOutput(part.output) }] : [],
  );
}

function readOutput(output: ResultOutput): { text: string; isError: boolean } {
  switch (output.type) {
    case 'text':
      return { text: output.value, isError: false };
    case 'error-text':
      return { text: output.value, isError: true };
    case 'json':
      return { text: JSON.stringify(output.value), isError: false };
    case 'error-json':
      return { text: JSON.stringify(output.value), isError: true };
    case 'execution-denied':
      return { text: output.reason ?? 'denied', isError: true };
    case 'content':
      return {
        text: output.value.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'),
        isError: false,
      };
  }
}
