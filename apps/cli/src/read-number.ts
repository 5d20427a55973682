import { InvalidArgumentError } from 'commander';

/** Reads an option that takes a positive number. */
export function readPositive(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0) {
    throw new InvalidArgumentError('It takes a number above 0.');
  }
  return value;
}

/** Reads an option that takes a whole number, 0 included. */
export function readWhole(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It takes a whole number.');
  return Number(text);
}
