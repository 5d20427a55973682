import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { ArtifactRef } from '@vitto/contracts';
import { stripInvisible, type ToolContext, type ToolResult } from '../../engine/index.ts';
import { cutText } from '../../kernel/text/cut.ts';

/** Bytes of one picture, sound or file in a result, at most. */
const MAX_BLOB_BYTES = 16 * 1024 * 1024;
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,60}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,60}$/i;

/**
 * The result of a call for the model: texts as they come, pictures, sounds and files as artifacts, structured content
 * where there is no text. All of it is text of a stranger.
 */
export async function readCallResult(
  result: CallToolResult,
  origin: { server: string; tool: string },
  artifacts: ToolContext['artifacts'],
): Promise<ToolResult> {
  const kept: ArtifactRef[] = [];
  const parts: string[] = [];
  for (const block of result.content) parts.push(await readBlock(block, origin.tool, artifacts, kept));
  const hasText = result.content.some((block) => block.type === 'text' && block.text.trim() !== '');
  if (!hasText && result.structuredContent !== undefined) {
    parts.push(JSON.stringify(result.structuredContent, null, 2));
  }
  const { text, removed } = stripInvisible(parts.join('\n\n'));
  const note = removed === 0 ? '' : `\n\n[${removed} invisible characters were taken out]`;
  return {
    status: result.isError === true ? 'error' : 'ok',
    text: (text.trim() === '' ? '(no content)' : text) + note,
    untrusted: `mcp:${origin.server}`,
    data: { ...origin, ...(result.isError === true ? { code: 'mcp.tool-failed' } : {}) },
    artifacts: kept,
  };
}

async function readBlock(
  block: ContentBlock,
  tool: string,
  artifacts: ToolContext['artifacts'],
  kept: ArtifactRef[],
): Promise<string> {
  const keep = async (what: string, mediaType: string | undefined, base64: string): Promise<string> => {
    const type =
      mediaType !== undefined && MEDIA_TYPE.test(mediaType) ? mediaType : 'application/octet-stream';
    const bytes = Buffer.from(base64, 'base64');
    if (bytes.length > MAX_BLOB_BYTES) return `[${what}: ${bytes.length} bytes, too large to be kept]`;
    const plain = tool.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 60);
    const ref = await artifacts.save(`${plain}-${kept.length + 1}.${extensionOf(type)}`, type, bytes);
    kept.push(ref);
    return `[${what} ${type}, ${bytes.length} bytes: artifact ${ref.id}]`;
  };
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return keep(block.type, block.mimeType, block.data);
    case 'resource_link':
      return `[link ${cutText(block.name, 200)}: ${cutText(block.uri, 2_000)}]`;
    case 'resource': {
      const { uri } = block.resource;
      const head = `[resource ${cutText(uri, 2_000)}]`;
      if ('text' in block.resource) return `${head}\n${block.resource.text}`;
      return `${head} ${await keep('file', block.resource.mimeType, block.resource.blob)}`;
    }
  }
}

function extensionOf(mediaType: string): string {
  const name = mediaType.split('/')[1]?.split('+')[0] ?? '';
  if (name === 'octet-stream') return 'bin';
  return /^[a-z0-9]{1,10}$/i.test(name) ? name.toLowerCase() : 'bin';
}
