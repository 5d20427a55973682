import type { McpToolDefinition } from '@vitto/contracts';
import { Details } from '../../../components/details.tsx';
import { ExactText } from '../../../components/exact-text.tsx';
import { Icon } from '../../../components/icon.tsx';
import { OutputBlock } from '../../../components/output-block.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { mcpStrings } from './strings.ts';

/** What a server says of its tool: plain text, with what would not show written out. */
export function ToolText({ tool }: { tool: McpToolDefinition }) {
  const words = useFeatureStrings(mcpStrings);
  const hints = Object.entries(tool.hints);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1">
      {tool.warnings.length > 0 && (
        <p className="flex gap-1.5 text-amber">
          <Icon name="warning" className="mt-0.5" />
          <span>
            {words.hidden} {tool.warnings.join('; ')}
          </span>
        </p>
      )}
      {!tool.isUsable && <p className="font-medium text-red">{words.unusable}</p>}
      {tool.description === '' ? (
        <p className="text-muted">{words.noDescription}</p>
      ) : (
        <ExactText text={tool.description} />
      )}
      {hints.length > 0 && (
        <p className="text-muted">
          {words.hints}{' '}
          <span className="mono">
            {hints.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')}
          </span>
        </p>
      )}
      <Details summary={words.input}>
        <OutputBlock text={JSON.stringify(tool.inputSchema, null, 2)} label={words.input} />
      </Details>
    </div>
  );
}
