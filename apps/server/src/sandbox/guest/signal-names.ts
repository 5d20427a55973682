import { constants } from 'node:os';

const NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** `SIGKILL` for 9; numbers without a name as they are. */
export function signalName(number: number): string {
  return NAMES.get(number) ?? `signal ${number}`;
}
