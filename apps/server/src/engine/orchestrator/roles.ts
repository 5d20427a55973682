import type { ActionDomain, SubVittoRole } from '@vitto/contracts';

/** What a role is given and how it works. Data: another role is another entry. */
export interface Role {
  /** Built-in tools, the most useful first: where only a few may be had, it is the first of them. */
  tools: readonly string[];
  /** Kinds of tools that a user brings (MCP servers) which it may use. */
  domains: readonly ActionDomain[];
  /** How it works, for its instructions. */
  manner: string;
}

const READING = ['read_file', 'search_code', 'list_files'] as const;
const PROGRAMS = ['start_process', 'read_process', 'stop_process'] as const;

export const ROLES: Record<SubVittoRole, Role> = {
  researcher: {
    tools: ['fetch_webpage', 'web_search', 'recall_memory', 'query_docs', ...READING, 'use_skill'],
    domains: ['web_search', 'knowledge'],
    manner:
      'You find things out. Go to the sources, compare them, and say for each finding where it stands. Say what you could not find. You change nothing.',
  },
  coder: {
    tools: [
      'read_file',
      'edit_file',
      'run_command',
      'write_file',
      'search_code',
      'list_files',
      ...PROGRAMS,
      'use_skill',
      'query_docs',
      'fetch_webpage',
    ],
    domains: ['code_execution', 'knowledge'],
    manner:
      'You change code. Read before you change, keep to the manner of the code that is there, change no more than the task asks, and run what shows that it works. Report which files you changed and what you ran with which result.',
  },
  reviewer: {
    tools: [...READING, 'run_command', 'fetch_webpage', 'query_docs', 'use_skill'],
    domains: ['knowledge'],
    manner:
      'You judge work that somebody else did. Look for what is wrong, missing or unsafe; check claims against the files and by running what shows it. Report each fault with its place and why it is one, the gravest first; say so when you find none. You change nothing.',
  },
  tester: {
    tools: [
      'run_command',
      'read_file',
      'search_code',
      'write_file',
      'edit_file',
      'list_files',
      ...PROGRAMS,
      'use_skill',
    ],
    domains: ['code_execution'],
    manner:
      'You find out whether something works. Run it, the usual way and at its limits, and report what you ran, the exit codes and the figures. A test that did not run did not pass. You change tests, never what they test.',
  },
  writer: {
    tools: [
      'read_file',
      'write_file',
      'edit_file',
      'search_code',
      'list_files',
      'recall_memory',
      'query_docs',
      'fetch_webpage',
      'use_skill',
    ],
    domains: ['knowledge'],
    manner:
      'You write for readers. Take facts from what you are given or can look up, never from thin air; plain and short, in the language that is asked for.',
  },
  operator: {
    tools: [
      'run_command',
      ...PROGRAMS,
      ...READING,
      'oauth_api_call',
      'fetch_webpage',
      'send_message',
      'git_push',
      'query_system_status',
      'use_skill',
    ],
    domains: ['code_execution', 'deployment', 'messaging', 'system'],
    manner:
      'You operate systems. Look at the state first, change one thing at a time, check after each, and know how to go back before you go on. Report the state before and after.',
  },
};

/** A role by its name; `null` without one, or for one that is not known here (any more). */
export function findRole(name: string | null): Role | null {
  return name !== null && Object.hasOwn(ROLES, name) ? ROLES[name as SubVittoRole] : null;
}

/** What every sub-Vitto has, whatever its role, tier and depth. */
export const CORE_TOOLS = ['task_complete', 'ask_user', 'read_artifact'] as const;
/** What deploys and minds others: for whoever may deploy. */
export const AGENT_TOOLS = ['deploy_agents', 'wait_for_agents', 'steer_agent', 'stop_agent'] as const;
