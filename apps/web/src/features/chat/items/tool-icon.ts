import type { IconName } from '../../../components/icon.tsx';

const ICONS: Record<string, IconName> = {
  run_command: 'terminal',
  start_process: 'terminal',
  read_process: 'terminal',
  stop_process: 'stop',
  read_file: 'file',
  list_files: 'file',
  write_file: 'pencil',
  edit_file: 'pencil',
  search_code: 'search',
  web_search: 'globe',
  fetch_webpage: 'globe',
  browser_navigate: 'globe',
  browser_interact: 'globe',
  browser_screenshot: 'globe',
  deploy_agents: 'agents',
  recall_memory: 'book',
  remember: 'book',
  query_docs: 'book',
  read_artifact: 'clip',
  send_message: 'chat',
  ask_user: 'chat',
  whistle_user: 'bell',
};

export function chooseToolIcon(tool: string): IconName {
  return ICONS[tool] ?? 'tool';
}
