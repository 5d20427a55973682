import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
} from '@ai-sdk/provider';
import type { ArtifactRef } from '@vitto/contracts';
import { weighAttachments } from './attachment-kind.ts';

export type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/** A file that a user's message came with, as the transcript knows it: its bytes are read when a request is made. */
export interface Attachment extends ArtifactRef {
  /** The task whose message it came with. */
  taskId: string;
}

/** Stands for a file in the transcript, which holds no bytes. No provider is ever given one. */
export function toReferencePart({ id, name, mediaType, bytes, taskId }: Attachment): LanguageModelV4FilePart {
  return {
    type: 'file',
    filename: name,
    mediaType,
    data: { type: 'reference', reference: { vitto: id } },
    providerOptions: { vitto: { bytes, taskId } },
  };
}

/** The file that a part stands for; `null` for any other part. */
export function readReferencePart(part: { type: string }): Attachment | null {
  if (part.type !== 'file') return null;
  const { data, filename, mediaType, providerOptions } = part as LanguageModelV4FilePart;
  if (data.type !== 'reference' || data.reference['vitto'] === undefined) return null;
  return {
    id: data.reference['vitto'],
    name: filename ?? '',
    mediaType,
    ...(providerOptions?.['vitto'] as { bytes: number; taskId: string }),
  };
}

export function attachmentsOf(message: LanguageModelV4Message): Attachment[] {
  if (message.role !== 'user') return [];
  return message.content.map(readReferencePart).filter((file) => file !== null);
}

/** Bytes of a message in a request, with the files that its references stand for: for estimates. */
export function weighMessage(message: LanguageModelV4Message): number {
  const files = attachmentsOf(message);
  const own = Buffer.byteLength(JSON.stringify(message));
  return files.length === 0 ? own : own + weighAttachments(files);
}

/** How a file is named to the model. */
export function nameOf({ name, mediaType, bytes, id }: ArtifactRef): string {
  return `attached file ${JSON.stringify(name)} (${mediaType}, ${bytes} bytes, artifact ${id})`;
}
