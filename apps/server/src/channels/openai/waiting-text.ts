import type { EventPayload, Settings } from '@vitto/contracts';
import type { AnswerEnd } from './answer.ts';

type Waiting = Extract<AnswerEnd, { kind: 'waiting' }>;

const WORDS = {
  en: {
    approval: 'I have stopped here: I need your approval.',
    decide: (url: string) => `Approve or refuse it here, and I go on: ${url}`,
    question: 'I have stopped here: I need an answer from you.',
    choices: 'You can answer:',
    answer: (url: string) => `Answer here, and I go on: ${url}`,
  },
  es: {
    approval: 'Me he detenido aquí: necesito tu permiso.',
    decide: (url: string) => `Permítelo o deniégalo aquí y sigo: ${url}`,
    question: 'Me he detenido aquí: necesito que me respondas.',
    choices: 'Puedes responder:',
    answer: (url: string) => `Respóndeme aquí y sigo: ${url}`,
  },
};

/** What a client is told of a task that waits for a person: what it waits for, and where to decide it. */
export function describeWaiting(
  { waitingFor }: Waiting,
  context: {
    approvals: Map<string, EventPayload<'approval.requested'>>;
    language: Settings['language'];
    /** Where the task is shown. */
    url: string;
  },
): string {
  const words = WORDS[context.language ?? 'en'];
  if (waitingFor.kind === 'input') {
    const choices = (waitingFor.choices ?? []).map((choice) => `- ${choice}`);
    const offered = choices.length === 0 ? [] : [[words.choices, ...choices].join('\n')];
    return [words.question, waitingFor.question, ...offered, words.answer(context.url)].join('\n\n');
  }
  const ids = waitingFor.kind === 'approval' ? waitingFor.approvalIds : [];
  const acts = ids.flatMap((id) => {
    const asked = context.approvals.get(id);
    return asked === undefined ? [] : [`- \`${asked.tool}\`: ${asked.reason}`];
  });
  return [words.approval, ...(acts.length === 0 ? [] : [acts.join('\n')]), words.decide(context.url)].join(
    '\n\n',
  );
}
