import { describe, expect, it } from 'vitest';
import { findTarget, SHORTCUTS } from './keyboard/shortcuts.ts';
import { findPlace, PLACES } from './places.ts';

const pages = PLACES.flatMap((place) => place.pages);

describe('the navigation', () => {
  it('knows the place of every page, of conversations and of tasks', () => {
    for (const place of PLACES) for (const page of place.pages) expect(findPlace(page.to)).toBe(place);
    expect(findPlace('/vitto/c/1').name).toBe('vitto');
    expect(findPlace('/vitto/t/1').name).toBe('vitto');
    expect(findPlace('/vitto/settings/models').name).toBe('settings');
    expect(findPlace('/vitto/agents').name).toBe('agents');
  });

  it('has shortcuts to pages that are there, each letter once', () => {
    const targets = SHORTCUTS.filter((one) => one.group === 'go');
    expect(new Set(targets.map((one) => one.keys[1])).size).toBe(targets.length);
    for (const { to } of targets) expect(pages.find((page) => page.to === to)?.isLater).toBeUndefined();
    expect(findTarget('i')).toBe('/vitto/inbox');
    expect(findTarget('z')).toBeNull();
  });
});
