import { actionDomain, risk, type McpServer, type McpToolDefinition } from '@vitto/contracts';
import { Select } from '../../../components/inputs.tsx';
import { Switch } from '../../../components/switch.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { mcpStrings } from './strings.ts';
import { ToolText } from './tool-text.tsx';
import type { ServerChoice } from './use-servers.ts';

interface ToolRowProps {
  server: McpServer;
  tool: McpToolDefinition;
  onChoose: (choice: (server: McpServer) => ServerChoice) => void;
}

/** An approved tool: whether it is used, and what it is taken for when that is not what its server is. */
export function ToolRow({ server, tool, onChoose }: ToolRowProps) {
  const words = useFeatureStrings(mcpStrings);
  const choice = server.toolChoices[tool.name] ?? {};
  /** An empty choice is the server's own. */
  const choose = (part: { domain?: string; risk?: string; isEnabled?: boolean }) => {
    onChoose(({ toolChoices }) => {
      const entries = Object.entries({ ...toolChoices[tool.name], ...part }).filter(
        ([, value]) => value !== '',
      );
      return { toolChoices: { ...toolChoices, [tool.name]: Object.fromEntries(entries) } };
    });
  };
  return (
    <li className="grid grid-cols-[minmax(0,1fr)] gap-2 py-3">
      <div className="flex items-center gap-2">
        <span className="min-w-0 flex-1">
          <code className="mono font-medium break-all">{tool.name}</code>{' '}
          <code className="mono text-muted break-all">{tool.toolName}</code>
        </span>
        <Switch
          label={words.useTool(tool.name)}
          isLabelHidden
          isOn={choice.isEnabled ?? true}
          onChange={(isEnabled) => choose({ isEnabled })}
        />
      </div>
      <ToolText tool={tool} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2 sm:grid-cols-2">
        <Select
          aria-label={words.toolDomain(tool.name)}
          value={choice.domain ?? ''}
          onChange={(event) => choose({ domain: event.target.value })}
        >
          <option value="">{words.sameAsServer(words.domains[server.domain])}</option>
          {actionDomain.options.map((one) => (
            <option key={one} value={one}>
              {words.domains[one]}
            </option>
          ))}
        </Select>
        <Select
          aria-label={words.toolRisk(tool.name)}
          value={choice.risk ?? ''}
          onChange={(event) => choose({ risk: event.target.value })}
        >
          <option value="">{words.sameAsServer(words.risks[server.risk])}</option>
          {risk.options.map((one) => (
            <option key={one} value={one}>
              {words.risks[one]}
            </option>
          ))}
        </Select>
      </div>
    </li>
  );
}
