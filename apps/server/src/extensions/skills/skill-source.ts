import type { Database } from '../../kernel/database/database.ts';
import type { PluginSource } from '../open-registry.ts';
import { listEnabledSkills } from './skill.store.ts';
import { createUseSkill } from './use-skill.ts';

/** The tool by which tasks read skills, for users who have any: others' requests stay as short as they were. */
export function createSkillSource({ pool }: Database): PluginSource {
  const hasSkills = async (userId: string) => (await listEnabledSkills(pool, userId)).length > 0;
  const plugin = { name: 'skills', tools: [createUseSkill(pool)] };
  return {
    readVersion: async (userId) => ((await hasSkills(userId)) ? 'skills' : ''),
    open: async (userId) => ((await hasSkills(userId)) ? [plugin] : []),
  };
}
