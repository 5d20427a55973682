import type { Complexity, EstimatedDuration } from '@vitto/contracts';

/** Words that speak of work with several steps, in English and Spanish, matched on word boundaries. */
const BUILD_WORDS =
  /(?<![\p{L}\p{N}])(?:build|implement|refactor|migrate|rewrite|deploy|debug|fix|repair|test|tests|install|audit|upgrade|compare|analy[sz]e|construye|implementa|refactoriza|migra|reescribe|despliega|depura|arregla|corrige|repara|prueba|pruebas|instala|audita|actualiza|compara|analiza)(?![\p{L}\p{N}])/giu;
const STEP_WORDS =
  /(?<![\p{L}\p{N}])(?:then|after that|finally|and also|first|next|every|each|all|luego|después|por último|además|primero|cada|todos|todas)(?![\p{L}\p{N}])/giu;

/**
 * Cheap estimate of a request at intake: what it asks for, in how many steps, how long it is. Trust depends on the
 * complexity, the lifetime of a gate's context on the duration; both are stored with the task.
 */
export function estimateTask(text: string): { complexity: Complexity; estimatedDuration: EstimatedDuration } {
  const builds = new Set((text.match(BUILD_WORDS) ?? []).map((word) => word.toLowerCase())).size;
  const steps =
    (text.match(STEP_WORDS) ?? []).length + (text.match(/^\s*(?:[-*•]|\d+[.)])\s/gmu) ?? []).length;
  const points = builds * 2 + steps + Math.min(4, Math.floor(text.length / 600));
  if (points >= 7) return { complexity: 'complex', estimatedDuration: 'long' };
  if (points >= 2) return { complexity: 'moderate', estimatedDuration: 'medium' };
  return { complexity: 'simple', estimatedDuration: 'short' };
}
