import { readKnownEvent, type EventEnvelope, type KnownEvent } from '@vitto/contracts';
import { firstLine } from './plain-text.ts';

/** Where a call really ran, for people. */
export const PLACES = {
  vm: 'in the VM',
  'process-sandbox': 'in the process sandbox',
  browser: 'in the browser',
  'in-process': 'in Vitto itself',
};
type Place = keyof typeof PLACES;

type SubVittoEnd = Extract<KnownEvent, { type: 'subvitto.completed' | 'subvitto.failed' }>;

/** What the journals say about one sub-Vitto. */
export interface SubVittoFacts {
  id: string;
  /** From 1, as is its number in the round. */
  round: number;
  number: number;
  role: string | null;
  /** How it ended by its parent's journal; `null`: it has no end there. */
  end: SubVittoEnd | null;
  /** Ends in its parent's journal, and in its own. */
  endCount: number;
  ownEnds: string[];
  /** Where its calls ran, by its own journal, but for those that need no place. */
  places: Place[];
}

/** `1.2 reviewer` */
export function nameSubVitto({
  round,
  number,
  role,
}: Pick<SubVittoFacts, 'round' | 'number' | 'role'>): string {
  return `${round}.${number} ${role ?? 'agent'}`;
}

/** `completed after 2.4 s, in the VM` */
export function describeSubVitto({ end, places }: SubVittoFacts): string {
  if (end === null) return 'has not ended';
  const { duration } = end.payload;
  const time = duration === undefined ? '' : ` after ${(duration / 1000).toFixed(1)} s`;
  const where = places.map((place) => PLACES[place]).join(' and ');
  return `${describeEnd(end)}${time}${where === '' ? '' : `, ${where}`}`;
}

function describeEnd(end: SubVittoEnd): string {
  if (end.type === 'subvitto.completed')
    return end.payload.success ? 'completed' : 'completed without success';
  return `${end.payload.status ?? 'failed'} (${firstLine(end.payload.error)})`;
}

/** The sub-Vittos that a task's journal names, in the order of its rounds. `events`: of the task and of all of them. */
export function readSubVittos(events: readonly EventEnvelope[], rootId: string): SubVittoFacts[] {
  const known = events.map(readKnownEvent).filter((event) => event !== null);
  const own = known.filter((event) => event.taskId === rootId);
  const rounds = own.filter((event) => event.type === 'orchestrator.round');
  return rounds.flatMap(({ payload }) =>
    payload.subTaskIds.map((id, index) => ({
      ...readOne(id, own, known),
      round: payload.roundNumber,
      number: index + 1,
    })),
  );
}

function readOne(id: string, parents: readonly KnownEvent[], all: readonly KnownEvent[]) {
  const ends = parents
    .filter((event) => event.type === 'subvitto.completed' || event.type === 'subvitto.failed')
    .filter((event) => event.payload.id === id);
  const spawned = parents.find((event) => event.type === 'subvitto.spawned' && event.payload.id === id);
  const its = all.filter((event) => event.taskId === id);
  const places = its.flatMap((event) =>
    event.type === 'tool.called' && event.payload.ranOn !== undefined ? [event.payload.ranOn.kind] : [],
  );
  return {
    id,
    role: spawned?.type === 'subvitto.spawned' ? spawned.payload.role : null,
    end: ends[0] ?? null,
    endCount: ends.length,
    ownEnds: its
      .map(({ type }) => type)
      .filter((type) => ['task.completed', 'task.failed', 'task.cancelled'].includes(type)),
    places: [...new Set(places)].filter((place) => place !== 'in-process'),
  };
}
