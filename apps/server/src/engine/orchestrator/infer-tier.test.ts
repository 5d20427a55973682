import { describe, expect, it } from 'vitest';
import { inferTier } from './infer-tier.ts';

describe('where a sub-Vitto works', () => {
  it.each([
    ['Summarise the latest contest and its protesters', 'in-process'],
    ['Resume el último concurso', 'in-process'],
    ['Compare three licences', 'in-process'],
    ['Is a prunable forest rebuildable?', 'in-process'],
    ['', 'in-process'],
    ['Run the tests', 'vm'],
    ['TESTING the parser', 'vm'],
    ['Install the packages and say what is old', 'vm'],
    ['write a report', 'vm'],
    ['Ejecuta las pruebas del paquete', 'vm'],
    ['Busca en el código', 'vm'],
    ['Busca en el co\u0301digo, escrito con una marca', 'vm'],
    ['Log in and take a screenshot of the page', 'browser'],
    ['log  in to the shop', 'browser'],
    ['Inicia sesión y haz clic en Enviar', 'browser'],
    ['browse the site and run the tests', 'browser'],
  ] as const)('%j → %s', (description, tier) => {
    expect(inferTier(description, [])).toBe(tier);
  });

  it('goes by the tools that were named, whatever the words say', () => {
    expect(inferTier('run the tests', ['in-process'])).toBe('in-process');
    expect(inferTier('read a page', ['in-process', 'vm'])).toBe('vm');
    expect(inferTier('read a page', ['vm', 'browser'])).toBe('browser');
  });
});
