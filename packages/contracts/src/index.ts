export * from './api.ts';
export * from './autonomy.ts';
export * from './budget.ts';
export * from './events.ts';
export * from './guest.ts';
export * from './words.ts';
