import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { cutText } from '../../../kernel/text/cut.ts';
import { maskSecrets } from '../../../kernel/text/mask-secrets.ts';
import type { ArtifactAccess } from '../../tools/tool.ts';
import { frameUntrusted } from '../frame-untrusted.ts';
import {
  IMAGE_MAX_BYTES,
  kindOf,
  MESSAGE_TEXT_MAX_LENGTH,
  readImageType,
  readText,
  TEXT_MAX_LENGTH,
} from './attachment-kind.ts';
import {
  attachmentsOf,
  nameOf,
  readReferencePart,
  type Attachment,
  type UserPart,
} from './attachment-part.ts';

/** Pictures in one request, the newest ones: more would pass the providers' limits for a request. */
const MAX_IMAGES = 16;
const MAX_IMAGE_BYTES = 16 * 1024 * 1024;

type UserMessage = Extract<LanguageModelV4Message, { role: 'user' }>;
/** The beginning of a text file, or why there is none. */
type FileText = { text: string; isWhole: boolean } | 'gone' | 'no-text';

/**
 * The files of a conversation, for the requests of one run: puts their content in place of the references, and keeps
 * what it has read, so that each request shows the same. Nothing of it is journaled.
 */
export class AttachmentReader {
  readonly #read: ArtifactAccess['read'];
  /** What a picture is shown as, for those that the last request showed. */
  #images = new Map<string, UserPart[]>();
  readonly #texts = new Map<string, FileText>();
  /** False once a model has refused pictures: from then on they are named only. */
  takesImages = true;

  constructor(read: ArtifactAccess['read']) {
    this.#read = read;
  }

  /** True when a request with these messages shows pictures. */
  showsImages(messages: readonly LanguageModelV4Message[]): boolean {
    return this.takesImages && messages.some((message) => attachmentsOf(message).some(isImage));
  }

  async show(messages: LanguageModelV4Message[]): Promise<LanguageModelV4Message[]> {
    const shown = this.takesImages ? newestImages(messages) : new Set<string>();
    this.#images = new Map([...this.#images].filter(([id]) => shown.has(id)));
    const all: LanguageModelV4Message[] = [];
    // One after the other: memory stays at what the request needs.
    for (const message of messages) {
      const hasFiles = attachmentsOf(message).length > 0;
      all.push(hasFiles ? await this.#showMessage(message as UserMessage, shown) : message);
    }
    return all;
  }

  async #showMessage(message: UserMessage, shown: ReadonlySet<string>): Promise<LanguageModelV4Message> {
    let room = MESSAGE_TEXT_MAX_LENGTH;
    const content: UserPart[] = [];
    for (const part of message.content) {
      const file = readReferencePart(part);
      if (file === null) content.push(part);
      else if (kindOf(file) === 'image') content.push(...(await this.#showImage(file, shown)));
      else if (kindOf(file) === 'other') content.push(note(file, NO_TEXT));
      else {
        const { part: text, length } = showText(file, await this.#readText(file), room);
        room -= length;
        content.push(text);
      }
    }
    return { ...message, content };
  }

  async #showImage(file: Attachment, shown: ReadonlySet<string>): Promise<UserPart[]> {
    if (!this.takesImages) return [note(file, NO_IMAGES)];
    if (!shown.has(file.id)) return [note(file, 'An older picture: it is not shown any more.')];
    const known = this.#images.get(file.id);
    if (known !== undefined) return known;
    const parts = await this.#readImage(file);
    this.#images.set(file.id, parts);
    return parts;
  }

  async #readImage(file: Attachment): Promise<UserPart[]> {
    const found = await this.#read(file.id, 0, IMAGE_MAX_BYTES);
    if (found === null) return [note(file, GONE)];
    const mediaType = readImageType(found.bytes);
    if (mediaType === null) return [note(file, 'It is no picture, whatever its type says.')];
    const data = Buffer.from(found.bytes).toString('base64');
    return [
      { type: 'text', text: `[${nameOf(file)}]` },
      { type: 'file', mediaType, data: { type: 'data', data } },
    ];
  }

  async #readText(file: Attachment): Promise<FileText> {
    const known = this.#texts.get(file.id);
    if (known !== undefined) return known;
    // A character has at most four bytes.
    const found = await this.#read(file.id, 0, TEXT_MAX_LENGTH * 4);
    const text = found === null ? null : readText(found.bytes);
    const read: FileText =
      found === null
        ? 'gone'
        : text === null
          ? 'no-text'
          : { text, isWhole: found.bytes.length === file.bytes };
    this.#texts.set(file.id, read);
    return read;
  }
}

/** A text file with as much of it as there is room for, framed as text from outside. */
function showText(file: Attachment, read: FileText, room: number): { part: UserPart; length: number } {
  if (read === 'gone') return { part: note(file, GONE), length: 0 };
  if (read === 'no-text') return { part: note(file, NO_TEXT), length: 0 };
  const length = Math.min(TEXT_MAX_LENGTH, room);
  if (length === 0)
    return { part: note(file, 'There was no room for it here: read it with read_artifact.'), length };
  // Masked before it is cut: half of a secret is not known for one any more.
  const masked = maskSecrets(read.text);
  const text = cutText(masked, length);
  const isWhole = read.isWhole && text.length === masked.length;
  const extent = isWhole ? 'whole' : `its first ${text.length} characters; read_artifact gives the rest`;
  const framed = frameUntrusted(text, `file ${file.name}`, file.taskId, file.id);
  return { part: { type: 'text', text: `[${nameOf(file)}, ${extent}]\n${framed}` }, length: text.length };
}

const GONE = 'It has been deleted.';
const NO_TEXT = 'It is not text that can stand here; read_artifact gives its bytes.';
const NO_IMAGES = 'The model in use takes no pictures, so it was not shown. Say so where it matters.';

function note(file: Attachment, text: string): UserPart {
  return { type: 'text', text: `[${nameOf(file)}. ${text}]` };
}

function isImage(file: Attachment): boolean {
  return kindOf(file) === 'image';
}

function newestImages(messages: readonly LanguageModelV4Message[]): Set<string> {
  const shown = new Set<string>();
  let bytes = 0;
  for (const file of messages.flatMap(attachmentsOf).filter(isImage).toReversed()) {
    if (!shown.has(file.id)) bytes += file.bytes;
    if (bytes > MAX_IMAGE_BYTES || shown.size === MAX_IMAGES) break;
    shown.add(file.id);
  }
  return shown;
}
